"""Measures the figures that the project promises: start-up, build times, edit to screen, weight of
pages.

Prints median and range of each with its budget. Nothing fails here: machines are noisy, so speed is
read, not asserted.
"""

from __future__ import annotations

import argparse
import os
import re
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Callable
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PYTHON = sys.executable
COMMAND = str(Path(PYTHON).parent / "flopbook")
ADDRESS = "127.0.0.1:8765"


def main(arguments: list[str] | None = None) -> int:
    """Run all measurements, or the ones named."""
    measures: dict[str, Callable[[int], None]] = {
        "cold": cold_command,
        "lint": lint_time,
        "rebuild": rebuild,
        "edit": edit_to_screen,
        "weight": weights,
        "load": load_time,
        "sweep": sweeps,
        "links": link_check,
        "references": reference_check,
        "handbook": handbook,
        "notebooks": notebooks,
        **{name: in_browser(name) for name in ("explorer", "works", "form", "search")},
    }
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("names", nargs="*", help=f"which: {', '.join(measures)} (default: all)")
    parser.add_argument(
        "--runs", type=int, default=15, help="runs of the short measurements (default: 15)"
    )
    options = parser.parse_args(arguments)
    unknown = [name for name in options.names if name not in measures]
    if unknown:
        parser.error(f"unknown measurement '{unknown[0]}'; known: {', '.join(measures)}")
    print(f"{os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}, Python {sys.version.split()[0]}")
    for name in options.names or measures:
        measures[name](options.runs)
    return 0


def report(name: str, times: list[float], unit: str, budget: str) -> None:
    """One line: median, range, budget."""
    low, middle, high = min(times), statistics.median(times), max(times)
    print(
        f"{name:<44} median {middle:8.1f} {unit}  ({low:.1f} to {high:.1f}, n={len(times)})  budget {budget}",
        flush=True,
    )


def timed(command: list[str], runs: int, scale: float = 1000.0) -> list[float]:
    """Wall time of a whole process, several times."""
    times = []
    for _ in range(runs):
        begun = time.perf_counter()
        subprocess.run(command, cwd=ROOT, check=True, stdout=subprocess.DEVNULL)
        times.append((time.perf_counter() - begun) * scale)
    return times


def busy(command: list[str], runs: int) -> list[float]:
    """Processor time of a whole process in ms: what it takes where others use the machine as well."""
    times = []
    for _ in range(runs):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run(command, cwd=ROOT, check=True, stdout=subprocess.DEVNULL)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        times.append((after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime) * 1000)
    return times


# Commands with the time that each may take, by what has to be looked up.
COLD = (
    ("min-batch --peak 1PFLOP/s --bandwidth 3TB/s --json", "60 ms"),
    ("bubble --stages 8 --microbatches 32", "60 ms"),
    ("min-batch --chip h100-sxm --json", "100 ms"),
    ("training-time --model llama-3-70b --chip h100-sxm --chips 1024 --mfu 0.4", "100 ms"),
    ("serving --model llama-3-70b --chip h100-sxm --tp 8 --seq 8192", "100 ms"),
)


def cold_command(runs: int) -> None:
    """Calculators without and with a chip and a model looked up, in a new process each time."""
    os.environ.pop(
        "PYTHONDONTWRITEBYTECODE", None
    )  # as where it is installed: compiled once, not at every start
    for call, _ in COLD:
        subprocess.run([COMMAND, *call.split()], cwd=ROOT, check=True, stdout=subprocess.DEVNULL)
    report("bare python", timed([PYTHON, "-c", "pass"], runs), "ms", "none")
    for call, budget in COLD:
        name = " ".join(call.split()[:3])
        report(name, timed([COMMAND, *call.split()], runs), "ms", budget)
        report(f"{name}, processor", busy([COMMAND, *call.split()], runs), "ms", budget)
    asked = "import flopbook; flopbook.peak('NVIDIA H100 80GB HBM3')"
    report("flopbook.peak of a device name", timed([PYTHON, "-c", asked], runs), "ms", "100 ms")
    report("list", timed([COMMAND, "list"], runs), "ms", "none")


_LOAD = (
    "import time; from flopbook import catalogue; t = time.perf_counter(); "
    "catalogue.load_entries(); print(time.perf_counter() - t)"
)


def load_time(runs: int) -> None:
    """All entries in a new process: kept by an earlier run, and with nothing kept."""
    for name, budget, environment in (
        ("load all entries", "150 ms", os.environ),
        ("load all entries, nothing kept", "none", os.environ | {"FLOPBOOK_CACHE": ""}),
    ):
        command = [sys.executable, "-c", _LOAD]
        times = [
            float(
                subprocess.run(
                    command, env=environment, capture_output=True, text=True, check=True
                ).stdout
            )
            * 1000
            for _ in range(runs)
        ]
        report(name, times, "ms", budget)


def lint_time(runs: int) -> None:
    """All checks of all data."""
    report("lint of all data", timed([COMMAND, "lint"], min(runs, 5), 1.0), "s", "2 s for one file")


def link_check(runs: int) -> None:
    """A thousand links of one host on this machine, eight at a time."""
    from scripts.bench.library import link_times

    report("1,000 links of one host, 8 at once", link_times(min(runs, 5)), "s", "10 s")


def reference_check(runs: int) -> None:
    """Two thousand references read and checked, with nothing kept from an earlier run."""
    from scripts.bench.library import reference_times

    times = reference_times(min(runs, 5), {**os.environ, "FLOPBOOK_CACHE": ""})
    report("2,000 references read and checked", times, "s", "3 s")


def handbook(_: int) -> None:
    """What the handbook holds; counted, not timed."""
    from scripts.bench.handbook import counts

    for name, count in counts():
        print(f"{name:<44} {count}", flush=True)


def rebuild(_: int) -> None:
    """The site again without changes, the notebooks from the cache."""
    with tempfile.TemporaryDirectory() as folder:
        command = [PYTHON, "-m", "scripts.build_site", "--site", f"{folder}/site"]
        timed(command, 1)
        report("site again without changes", timed(command, 3, 1.0), "s", "30 s")


def notebooks(_: int) -> None:
    """Each notebook executed once with a kernel of its own, nothing kept: from the start to its
    last cell.

    One whose extra is not installed is left out.
    """
    from scripts.website.build import extras
    from scripts.website.build.notebooks import execute, sources

    times = {}
    for path in sources():
        extra = extras.find(extras.extra_of(path))
        if extra.python is None:
            print(f"notebook {path.stem:<35} left out: run `make {extra.name}` first", flush=True)
            continue
        begun = time.perf_counter()
        execute(path, extra.python)
        times[path.stem] = time.perf_counter() - begun
        print(f"notebook {path.stem:<35}        {times[path.stem]:8.1f} s  budget 60 s", flush=True)
    print(
        f"{f'all {len(times)} notebooks, one after the other':<44}        {sum(times.values()):8.1f} s"
    )


def edit_to_screen(_: int) -> None:
    """One YAML value edited under serve, until the page shows it; the file is put back."""
    path = ROOT / "accelerators" / "nvidia" / "h100-sxm.yaml"
    original = path.read_text(encoding="utf-8")
    server = subprocess.Popen(
        [PYTHON, "-m", "scripts.serve", "--address", ADDRESS],
        cwd=ROOT,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    url = f"http://{ADDRESS}/accelerators/nvidia/h100-sxm/"
    try:
        wait_for(url, "H100", 120)
        time.sleep(3)
        times = []
        for word in ("first", "second", "third"):
            begun = time.perf_counter()
            path.write_text(
                re.sub(
                    r"(?m)^summary: .*(\n  .*)*", f"summary: Edited for the {word} time.", original
                ),
                encoding="utf-8",
            )
            wait_for(url, f"Edited for the {word} time", 60)
            times.append(time.perf_counter() - begun)
            time.sleep(2)
        report("one YAML value edited, until it is shown", times, "s", "5 s")
    finally:
        path.write_text(original, encoding="utf-8")
        server.terminate()
        server.wait(timeout=15)


def wait_for(url: str, text: str, limit_s: float) -> None:
    """Ask for a page until it holds a text. Raises TimeoutError."""
    end = time.monotonic() + limit_s
    while time.monotonic() < end:
        try:
            with urllib.request.urlopen(url, timeout=5) as answer:
                if text in answer.read().decode():
                    return
        except OSError:
            pass
        time.sleep(0.1)
    raise TimeoutError(f"{url} did not show '{text}' within {limit_s} s")


# A million points of one input each; the program says how much time of one core it took.
_SWEEP = """
import time
import numpy
from flopbook import sweep
points = numpy.floor(numpy.geomspace(1e3, 1e9, 1_000_000))
inputs = {
    "min-batch": dict(chip="h100-sxm", d_ff=28672, d_model=points),
    "memory": dict(model="llama-3-70b", zero=3, dp=64, tp=8, seq=points),
    "training-time": dict(model="llama-3-70b", chip="h100-sxm", mfu=0.4, price="2USD/h", chips=points),
}
for name, options in inputs.items():
    sweep(name, **{key: value[:9] if value is points else value for key, value in options.items()})
    begun = time.process_time()
    sweep(name, **options)
    print(name, time.process_time() - begun)
"""


def sweeps(runs: int) -> None:
    """A million points of three calculators through `sweep`, processor time of one core."""
    times: dict[str, list[float]] = {}
    environment = os.environ | {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    for _ in range(min(runs, 7)):
        done = subprocess.run(
            [PYTHON, "-c", _SWEEP], env=environment, capture_output=True, text=True, check=True
        )
        for name, seconds in map(str.split, done.stdout.splitlines()):
            times.setdefault(name, []).append(float(seconds) * 1000)
    for name, found in times.items():
        report(f"sweep of {name}, 1,000,000 points", found, "ms", "1000 ms")


def weights(_: int) -> None:
    """What each page template weighs over the wire, gzipped, search index aside."""
    from scripts.website.build.handbook import chapters
    from scripts.website.build.weigh import BUDGET, BUDGETS, TEMPLATES, weigh_site

    if not (ROOT / "site" / "index.html").exists() or shutil.which("chromium") is None:
        print("weight: needs a built site and a browser (make site, make test)")
        return
    pages = dict.fromkeys([*TEMPLATES, *(one.page.removesuffix(".md") + "/" for one in chapters())])
    sizes = weigh_site(ROOT / "site", pages)
    for page, size in sizes.items():
        limit = BUDGETS.get(page, BUDGET) // 1000
        print(f"{page or 'home':<44}        {size / 1000:8.1f} kB gzipped  budget {limit} kB")
    texts = sorted((size, page) for page, size in sizes.items() if page not in BUDGETS)
    middle, largest = texts[len(texts) // 2][0] / 1000, texts[-1]
    print(f"text pages: median {middle:.1f} kB, largest {largest[0] / 1000:.1f} kB ({largest[1]})")


def in_browser(name: str) -> Callable[[int], None]:
    """A measure of the built site in a browser, from benchpages.py."""

    def measure(runs: int) -> None:
        from scripts.bench import pages as benchpages

        if not (ROOT / "site" / "index.html").exists():
            print(f"{name}: needs a built site (make site)")
            return
        for one in getattr(benchpages, name)(ROOT / "site", runs):
            if isinstance(one, benchpages.Timed):
                report(one.name, one.times, "ms", one.budget)
            else:
                print(
                    f"{one.name:<44}        {one.size / 1000:8.1f} kB gzipped  budget {one.budget}",
                    flush=True,
                )

    return measure


if __name__ == "__main__":
    sys.exit(main())
