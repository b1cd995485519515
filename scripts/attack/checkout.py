"""A small checkout of the project: all of its code, a few of its entries, a page of each kind.

It builds in seconds what the whole one builds in minutes, by the same programs.
"""

from __future__ import annotations

import csv
import io
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import yaml

ROOT = Path(__file__).resolve().parents[2]
_CODE = ("scripts", "calculators", "requirements", "docs/assets", "pyproject.toml", "mkdocs.yml")
_ABOUT = ("LICENSE", "LICENSES", "NOTICE", "CITATION.cff", "CHANGELOG.md")
# Those that comparisons and the examples of calculators and of `check` ask for.
ENTRIES = (
    *("nvidia/a100-sxm-80gb", "nvidia/h100-sxm", "nvidia/h200-sxm", "nvidia/b200"),
    *("amd/mi300x", "amd/mi355x", "google/tpu-v5p", "google/tpu-v6e", "google/tpu-v7x"),
    *("aws/trainium2", "nvidia/dgx-h100", "nvidia/t4"),
)
MODELS = (
    *("llama-2-7b", "llama-3-8b", "llama-3-70b", "gpt-3-175b", "deepseek-v3", "mixtral-8x7b"),
    *("megatron-530b", "llama-3-405b"),  # of the examples of calculators
    *("llama-1-7b", "qwen-3-32b", "qwen-3-coder-480b-a35b"),  # of the runs
)
# Small files that have all kinds of rows and all of their text fields among them.
RUNS = (
    *("bigscience-tr11", "bloom-carbon", "gtc-slides", "gptfast-bw", "openllama", "mamf"),
    *("vllm-tpu7x", "litgpt-res", "vtrain-single", "megascale", "ml-network"),
    "flopbook-measure",  # the record of a reference that the package cites
)
_TOPIC = {
    "id": "roofline",
    "title": "Rooflines",
    "intro": "What these works say.",
    "calculators": ["ridge-point"],
}
_START_HERE = ("williams2009roofline", "he2022brrrr", "hooker2021hardware")
# The calculators that have a page, among them those that the page of a chip opens; all of them can
# still be called.
_CALCULATORS = """
SECTIONS = {
    "Rooflines": {
        "ridge-point": "rooflines",
        "min-batch": "rooflines",
        "memory": "training_memory",
        "training-time": "training_runs",
        "decode": "inference",
    }
}
CATALOGUE_OF_PAGES = SECTIONS["Rooflines"]
"""
# The comparisons that have a page: of the chips that are here.
_PAIRS = '\nPAIRS = (("h100-sxm", "mi300x"), ("h100-sxm", "h200-sxm"))\n'
_ALL = "name: get_formula(name) for name in CATALOGUE"
_ABSENT = {
    "scripts/website/build/generated.py": (
        "    yield sentences.PAGE, sentences.sentences_page()\n",
        "    yield script_sentences.PAGE, script_sentences.script_sentences_page()\n",
        "    yield cheatsheet.PAGE, cheatsheet.sheet_page()\n",
    ),
    "mkdocs.yml": (
        "          - Sentences: contributing/sentences.md\n",
        "          - Sentences of scripts: contributing/script-sentences.md\n",
        # Pages that people write: one of them stands for all.
        "          - Architecture: contributing/architecture.md\n",
        "          - Look: contributing/look.md\n",
        "          - Style: contributing/style.md\n",
        "          - Code: contributing/code.md\n",
        "          - Decisions: contributing/decisions.md\n",
        "          - The handbook compared: contributing/handbook-compared.md\n",
        "      - Cheat sheet: cheat-sheet.md\n",
    ),
}
_PAGE = "---\ntitle: {0}\ndescription: What it is.\n{1}---\n\n# {0}\n\nText.\n\n## Part\n\nMore.\n"
# What a chapter takes from data: names, values, works, pictures, forms.
_NUMBERS = """
{{ cite("williams2009roofline") }} on {{ chip("h100-sxm") }} and {{ model("llama-3-70b") }}.
{{ entry("nvidia/h100-sxm").summary }} {{ entry("nvidia/h100-sxm").name }}
{{ chip("h100-sxm").peak("bf16") }}

{{ roofline("h100-sxm") }}

{{ form("min-batch") }}
"""
_ENTRY = re.compile(r"^@\w+\{([^,\s]+),.*?^\}\n", re.DOTALL | re.MULTILINE)
_NO_FIGURE = re.compile(r"^  nofigure = .*\n", re.MULTILINE)
_KEYWORDS = re.compile(r"keywords = \{[^}]*\}")
_WORD = re.compile(r"[a-z][\w-]*[0-9]{4}[\w-]*")
_NOTEBOOK = '# %% [markdown]\n# # A practical\n#\n# What it shows.\n\n# %%\nprint("one")\n'


def small_checkout(folder: Path) -> Path:
    """Write the checkout into a folder that does not exist yet; the folder comes back."""
    for name in (*_CODE, *_ABOUT):
        _copy(ROOT / name, folder / name)
    shutil.rmtree(folder / "calculators" / "notebooks")
    _write(folder / "calculators" / "notebooks" / "practical.py", _NOTEBOOK)
    for kind, kept in (("models", MODELS), ("runs", RUNS)):
        for path in (folder / "calculators" / kind).glob("*.yaml"):
            if path.stem not in kept:
                path.unlink()
    calculators = folder / "calculators" / "flopbook" / "formulas" / "__init__.py"
    text = calculators.read_text(encoding="utf-8")
    assert _ALL in text
    _write(calculators, text.replace(_ALL, f"{_ALL}_OF_PAGES") + _CALCULATORS)
    pairs = folder / "scripts" / "website" / "pages" / "pair_names.py"
    _write(pairs, pairs.read_text(encoding="utf-8") + _PAIRS)
    for name, texts in _ABSENT.items():
        for text in texts:
            _cut(folder / name, text)
    _entries(folder)
    for number, name in enumerate(_written_pages(folder)):
        page = _PAGE.format(f"Page {number}", "")
        _write(folder / "docs" / name, page + _sections(ROOT / "docs" / name))
    handbook = folder / "docs" / "handbook"
    _write(handbook / "index.md", f"{_PAGE.format('Handbook', '')}\n<!-- book -->\n")
    _write(handbook / "one.md", _PAGE.format("One", "order: 1\n") + _NUMBERS)
    _bibliography(folder / "bibliography", folder)
    return folder


def whole_checkout(folder: Path) -> Path:
    """Copy all files that are tracked into a folder that does not exist yet; it comes back."""
    listed = subprocess.run(
        ["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout
    for name in filter(None, listed.split("\0")):
        target = folder / name
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, target, follow_symlinks=False)
    return folder


def _written_pages(folder: Path) -> list[str]:
    """The pages of its navigation that people write; all others are made from data."""
    config = yaml.safe_load((folder / "mkdocs.yml").read_text(encoding="utf-8"))
    return [page for page in _pages(config["nav"]) if (ROOT / "docs" / page).is_file()]


def _sections(page: Path) -> str:
    """The headings of a page alone: other pages lead to them."""
    lines = page.read_text(encoding="utf-8").splitlines()
    headings = [line for line in lines if line.startswith("## ") and "{" not in line]
    return "".join(f"\n{heading}\n" for heading in headings)


def _pages(nav: Any) -> Iterator[str]:
    if isinstance(nav, str):
        yield nav
    elif isinstance(nav, dict):
        yield from _pages(list(nav.values()))
    else:
        for nav_item in nav:
            yield from _pages(nav_item)


def environment(folder: Path) -> dict[str, str]:
    """What a program of the small checkout runs with: its own code, nothing kept elsewhere."""
    paths = os.pathsep.join((str(folder), str(folder / "calculators")))
    own = {"PYTHONPATH": paths, "FLOPBOOK_CACHE": "", "FLOPBOOK_JAX": "0"}
    # A checkout is built several times: its code is compiled by the first, whoever forbids that.
    return {**os.environ, **own, "PYTHONDONTWRITEBYTECODE": ""}


def build_command(*words: str) -> list[str]:
    """`make site` without the set-up."""
    return [sys.executable, "-m", "scripts.build_site", *words]


def build(folder: Path, *words: str, **variables: str) -> subprocess.CompletedProcess[str]:
    """Build the site of a small checkout, and wait."""
    return subprocess.run(
        build_command(*words),
        cwd=folder,
        env=environment(folder) | variables,
        capture_output=True,
        text=True,
        check=False,
    )


def _copy(source: Path, target: Path) -> None:
    if source.is_dir():
        # What is compiled comes along: it is used where its source is as old and as long as here.
        ignored = shutil.ignore_patterns("*.egg-info")
        shutil.copytree(source, target, ignore=ignored)
    else:
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(source, target)


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


def _entries(folder: Path) -> None:
    """The entries with their vendors, and the schemas."""
    chips = Path("accelerators")
    # The measured rates of links stand beside the vendors.
    for path in (
        *(ROOT / chips).glob("*.json"),
        *(ROOT / chips).glob("*.yaml"),
        ROOT / chips / "__init__.py",
    ):
        _copy(path, folder / chips / path.name)
    vendors = {f"{name.partition('/')[0]}/vendor" for name in ENTRIES}
    for name in (*ENTRIES, *vendors):
        _copy(ROOT / chips / f"{name}.yaml", folder / chips / f"{name}.yaml")
    _prices(folder / chips / "prices.yaml")
    _sought(folder / chips / "sought.yaml")
    for sheet in (ROOT / chips / "audits").glob("*.csv"):
        _audit(sheet, folder / chips / "audits" / sheet.name)


def _prices(path: Path) -> None:
    """Keep the list prices of the chips that are here."""
    rows = yaml.safe_load(path.read_text(encoding="utf-8"))["prices"]
    kept = [row for row in rows if row["chip"] in ENTRIES]
    _write(path, yaml.safe_dump({"prices": kept}, sort_keys=False))


def _sought(path: Path) -> None:
    """Leave out the prices that were looked for in vain: they name chips that are not here."""
    rows = yaml.safe_load(path.read_text(encoding="utf-8"))
    kept = [row for row in rows["prices"] if set(row["chips"]) <= set(ENTRIES)]
    _write(path, yaml.safe_dump({**rows, "prices": kept}, sort_keys=False))


def _audit(source: Path, target: Path) -> None:
    """Keep what an audit says of the chips that are here; the Data page leads to its sheet."""
    first, *rows = csv.reader(source.read_text(encoding="utf-8").splitlines())
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows([first, *(r for r in rows if r[0] in ENTRIES)])
    _write(target, text.getvalue())


def _bibliography(target: Path, folder: Path) -> None:
    """One topic, the terms, and the works that anything here names."""
    source = ROOT / "bibliography"
    for path in (*source.glob("*.json"), source / "__init__.py"):
        _copy(path, target / path.name)
    _write(target / "topics.yaml", yaml.safe_dump({"topics": [_TOPIC]}, sort_keys=False))
    _glossary(source / "glossary.yaml", target)
    names = _named(folder)
    for path in source.glob("*.bib"):
        found = _ENTRY.finditer(path.read_text(encoding="utf-8"))
        if entries := [_of_the_topic(match[0]) for match in found if match[1] in names]:
            _write(target / path.name, "\n".join(entries))


def _of_the_topic(entry: str) -> str:
    """An entry of the one topic; a web page without a kind is a source of values."""
    head, line, fields = entry.partition("\n")
    kind = "" if "\n  type = " in entry else "\n  type = {source},"
    # Of papers alone it is said that they print no figure.
    fields = _NO_FIGURE.sub("", fields) if kind else fields
    return _KEYWORDS.sub(f"keywords = {{{_TOPIC['id']}}}", head + kind + line + fields)


def _glossary(source: Path, target: Path) -> None:
    """Terms that stand by themselves, all of them taught by the one chapter."""
    known = yaml.safe_load(source.read_text(encoding="utf-8"))["terms"]
    terms = [
        {**term, "chapter": "handbook/one.md#part"}
        for term in known
        if not term.get("names") and not term.get("symbol")
    ]
    for term in terms:
        term.pop("see_also", None)
    _write(target / source.name, yaml.safe_dump({"terms": terms}, sort_keys=False))


def _cut(path: Path, text: str) -> None:
    """Take out of a file what the small checkout has no pages for."""
    whole = path.read_text(encoding="utf-8")
    assert text in whole, f"{path.name} has no {text!r}"
    _write(path, whole.replace(text, ""))


def _named(folder: Path) -> set[str]:
    """Whatever looks like the key of a work in the files of a checkout."""
    names = set(_START_HERE)
    for path in folder.rglob("*"):
        # Figures are drawn for chapters, and the one chapter here has none.
        if path.suffix in (".py", ".yaml", ".md") and path.parent.name != "figures":
            names.update(_WORD.findall(path.read_text(encoding="utf-8")))
    return names
