"""Measures every template of the site with Lighthouse, on a phone of middling speed.

Needs a built site, Node and npm; Lighthouse is installed from requirements/node/package-lock.json
into build/node/. Prints the median of the runs for each template, and what costs points. Exit
status: 0 all goals are reached, 1 a template misses one, 2 bad usage or no Lighthouse.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from statistics import median_low
from typing import Any, NamedTuple

from scripts.ensure_browser import BrowserError, ensure_browser
from scripts.website.build.reviewed import chosen, parsed, template_parser
from scripts.website.build.weigh import LAUNCH, served

ROOT = Path(__file__).resolve().parents[1]
LOCKED = ROOT / "requirements" / "node"
INSTALLED = ROOT / "build" / "node"
# What each page has to reach, of 100.
GOALS = {"performance": 95, "accessibility": 100, "best-practices": 100, "seo": 100}
_HEADS = ("perf", "access", "best", "seo")
_TIMEOUT_S = 240


class LighthouseError(Exception):
    """Lighthouse cannot be installed or does not answer; the text says what to do."""


class Report(NamedTuple):
    """What a run found: points of each category, and the audits that cost points, in words."""

    points: dict[str, int]
    costs: dict[str, tuple[str, ...]]


def _parse(arguments: list[str] | None) -> argparse.Namespace:
    parser = template_parser(__doc__)
    parser.add_argument("--runs", type=int, default=5, help="of each template (default: 5)")
    options = parsed(parser, arguments)
    if options.runs < 1:
        parser.error("--runs is at least 1")
    return options


def main(arguments: list[str] | None = None) -> int:
    """Measure and print a table; say what costs points below it."""
    options = _parse(arguments)
    try:
        program, browser = install(), ensure_browser()
        reports = dict(
            measured(options.site, chosen(options.templates), options.runs, program, browser)
        )
    except (LighthouseError, BrowserError) as error:
        print(error, file=sys.stderr)
        return 2
    print("\n".join(table(reports)))
    return 1 if any(missed(report) for report in reports.values()) else 0


def install() -> Path:
    """The program of Lighthouse, installed as it is locked. Raises LighthouseError."""
    program = INSTALLED / "node_modules" / "lighthouse" / "cli" / "index.js"
    lock, stamp = LOCKED / "package-lock.json", INSTALLED / "installed.json"
    if program.is_file() and stamp.is_file() and stamp.read_bytes() == lock.read_bytes():
        return program
    npm = shutil.which("npm")
    if npm is None:
        raise LighthouseError("lighthouse: npm was not found. Install Node 18 or newer")
    INSTALLED.mkdir(parents=True, exist_ok=True)
    for name in ("package.json", "package-lock.json"):
        shutil.copyfile(LOCKED / name, INSTALLED / name)
    # No script of a package runs.
    options = ("--ignore-scripts", "--no-audit", "--no-fund")
    done = subprocess.run(
        [npm, "ci", *options], cwd=INSTALLED, capture_output=True, text=True, check=False
    )
    if done.returncode != 0:
        raise LighthouseError(f"lighthouse: npm could not install it\n{done.stderr.strip()}")
    shutil.copyfile(lock, stamp)
    return program


def measured(
    site: Path, pages: dict[str, str], runs: int, program: Path, browser: Path
) -> Iterator[tuple[str, Report]]:
    """Name of a template -> the medians of its runs; a line on each goes to standard error."""
    with served(site) as base:
        for name, page in pages.items():
            reports = [report_of(_run(base + page, program, browser)) for _ in range(runs)]
            report = medians(reports)
            print(f"{name}: {' '.join(map(str, report.points.values()))}", file=sys.stderr)
            yield name, report


def _run(address: str, program: Path, browser: Path) -> dict[str, Any]:
    """The report of one run, as Lighthouse writes it. Raises LighthouseError."""
    flags = " ".join(("--headless=new", *LAUNCH))
    command = ["node", str(program), address, "--output=json", "--quiet", f"--chrome-flags={flags}"]
    command += [f"--only-categories={','.join(GOALS)}"]
    environment = {**os.environ, "CI": "1", "CHROME_PATH": str(browser)}
    try:
        done = subprocess.run(
            command,
            capture_output=True,
            text=True,
            env=environment,
            timeout=_TIMEOUT_S,
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise LighthouseError(f"lighthouse: no answer for {address} in {_TIMEOUT_S} s") from None
    try:
        report: dict[str, Any] = json.loads(done.stdout)
    except json.JSONDecodeError:
        raise LighthouseError(f"lighthouse: {address}: {done.stderr.strip()[-500:]}") from None
    return report


def report_of(report: dict[str, Any]) -> Report:
    """Points and costs from what Lighthouse writes. Raises LighthouseError for a page not seen."""
    if error := report.get("runtimeError"):
        raise LighthouseError(f"lighthouse: {report.get('requestedUrl')}: {error.get('message')}")
    points = {name: round(100 * (report["categories"][name]["score"] or 0)) for name in GOALS}
    costs = {name: tuple(_costs(report, name)) for name in GOALS}
    return Report(points, costs)


def _costs(report: dict[str, Any], category: str) -> Iterator[str]:
    """The audits of a category that cost points, the most costly first."""
    audits = []
    for part in report["categories"][category]["auditRefs"]:
        audit = report["audits"][part["id"]]
        lost = part["weight"] * (1 - audit["score"]) if audit.get("score") is not None else 0
        if lost > 0:
            audits.append((lost, part["id"], audit.get("displayValue", "")))
    for _, name, value in sorted(audits, reverse=True):
        yield f"{name} {value}".strip()


def medians(reports: list[Report]) -> Report:
    """The median of each category; its costs are those of a run that has it."""
    points = {name: median_low(report.points[name] for report in reports) for name in GOALS}
    costs = {
        name: next(one.costs[name] for one in reports if one.points[name] == points[name])
        for name in GOALS
    }
    return Report(points, costs)


def missed(report: Report) -> dict[str, int]:
    """The categories in which a report is below the goal."""
    return {name: got for name, got in report.points.items() if got < GOALS[name]}


def table(found: dict[str, Report]) -> Iterator[str]:
    """A line for each template, then what costs points where a goal is missed."""
    wide = max(map(len, (*found, "template")))
    yield f"{'template':{wide}}  {'  '.join(f'{head:>6}' for head in _HEADS)}"
    for name, report in found.items():
        yield f"{name:{wide}}  {'  '.join(f'{got:6d}' for got in report.points.values())}"
    for name, report in found.items():
        for category in missed(report):
            goal, costs = GOALS[category], "; ".join(report.costs[category][:4])
            yield f"{name}: {category} below {goal}: {costs}"


if __name__ == "__main__":
    sys.exit(main())
