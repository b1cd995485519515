"""Small valid documents, and ways to break them, for the tests of the readers."""

from __future__ import annotations

import datetime
import json
from pathlib import Path
from typing import Any

from flopbook.data.library import Library
from flopbook.data.prices import Price
from flopbook.errors import DataError, Problem

READ = datetime.date(2026, 11, 21)
SOURCE = "acme2026one"
PRICE = Price(
    chip="acme/one",
    provider="cloud",
    offer="big.8",
    chips=8,
    region="north-1",
    terms="on-demand",
    value=80,
    unit="USD/h",
    date=datetime.date(2026, 11, 9),
    source=SOURCE,
    as_of=datetime.date(2026, 11, 22),
    file="accelerators/prices.yaml",
    line=7,
)
COMMON = {
    "per": "package",
    "basis": "printed",
    "source": SOURCE,
    "as_of": READ,
    "locator": "Table 1",
}

# The conditions that make a claim of each field true, with a value that passes.
CONDITIONS: dict[str, dict[str, Any]] = {
    "peak": {
        "value": 100,
        "unit": "TFLOP/s",
        "dtype": "bf16",
        "engine": "tensor",
        "sparsity": "dense",
    },
    "memory": {"value": 80, "unit": "GB", "tier": "hbm"},
    "memory_bandwidth": {"value": 2, "unit": "TB/s", "tier": "hbm"},
    "sram": {"value": 228, "unit": "kB", "name": "shared memory"},
    "cache": {"value": 50, "unit": "MB", "name": "L2"},
    "sram_bandwidth": {"value": 10, "unit": "TB/s", "name": "VMEM"},
    "scaleup_bandwidth": {
        "value": 900,
        "unit": "GB/s",
        "name": "Link 4",
        "direction": "both",
        "aggregate": "chip",
    },
    "scaleout_bandwidth": {
        "value": 400,
        "unit": "Gbit/s",
        "name": "NIC",
        "direction": "one-way",
        "aggregate": "chip",
    },
    "host_bandwidth": {
        "value": 64,
        "unit": "GB/s",
        "name": "PCIe",
        "direction": "one-way",
        "aggregate": "chip",
    },
    "scaleup_links": {"value": 18, "unit": "link", "name": "Link 4"},
    "scaleup_axes": {"value": 1, "unit": "axis", "topology": "switch"},
    "scaleup_wrap": {"value": 4, "unit": "chip", "topology": "cube"},
    "scaleup_domain": {"value": 8, "unit": "chip", "topology": "all to all"},
    "power": {"value": 700, "unit": "W", "of": "maximum"},
    "process": {"value": "4 nm"},
    "die_area": {"value": 814, "unit": "mm2"},
    "transistors": {"value": 8e10, "unit": "count"},
    "clock": {"value": 1830, "unit": "MHz", "name": "tensor"},
    "cores": {"value": 528, "unit": "count", "name": "tensor cores"},
    "flop_per_clock": {
        "value": 1024,
        "unit": "FLOP/cycle",
        "name": "tensor cores",
        "dtype": "bf16",
        "sparsity": "dense",
    },
    "stacks": {"value": 5, "unit": "count"},
    "stack_memory": {"value": 16, "unit": "GB", "tier": "hbm"},
    "dies": {"value": 2, "unit": "count"},
    "bisection_bandwidth": {
        "value": 3.6,
        "unit": "TB/s",
        "name": "Link 4",
        "direction": "unstated",
    },
    "ports": {"value": 24, "unit": "count", "name": "RoCE"},
    "port_bandwidth": {
        "value": 600,
        "unit": "GB/s",
        "name": "RoCE, all ports",
        "direction": "one-way",
        "aggregate": "chip",
    },
    "chip_to_chip_bandwidth": {
        "value": 900,
        "unit": "GB/s",
        "name": "Link to the CPU",
        "direction": "both",
        "aggregate": "chip",
    },
    "die_to_die_bandwidth": {
        "value": 10,
        "unit": "TB/s",
        "name": "between the two dies",
        "direction": "unstated",
    },
    "fabric_bandwidth": {
        "value": 214,
        "unit": "PB/s",
        "name": "fabric on the wafer",
        "direction": "unstated",
    },
    "throughput": {"value": 17000, "unit": "token/s", "name": "Tiny 1B, one user"},
    "form_factor": {"value": "SXM5"},
    "compute_capability": {"value": "9.0"},
    "devices_per_package": {"value": 2, "unit": "count", "name": "ACME ONE 80GB"},
    "announced": {"value": "2022-03-22"},
    "launched": {"value": "2022"},
    "price": {"value": 30000, "unit": "USD", "name": "list price"},
    "measured_matmul": {
        "value": 70,
        "unit": "TFLOP/s",
        "dtype": "bf16",
        "sparsity": "dense",
        "shape": "8192x8192x8192",
    },
    "measured_bandwidth": {"value": 1.8, "unit": "TB/s", "tier": "hbm"},
}


def claim(field: str = "peak", drop: tuple[str, ...] = (), **changes: Any) -> dict[str, Any]:
    """A valid claim of a field, less some keys, with some changed."""
    full = {"field": field, **CONDITIONS[field], **COMMON, **changes}
    return {key: value for key, value in full.items() if key not in drop}


def flow(mapping: dict[str, Any]) -> str:
    """A mapping on one line, as entries write their claims."""
    return "{" + ", ".join(f"{key}: {_scalar(value)}" for key, value in mapping.items()) + "}"


def _scalar(value: Any) -> str:
    return (
        value.isoformat()
        if isinstance(value, datetime.date)
        else json.dumps(value, ensure_ascii=False)
    )


def die(name: str = "AC100", **changes: Any) -> str:
    """The die of an entry, as a line of its head; a change of None leaves a key out."""
    written = {"name": name, "source": SOURCE, "as_of": READ, "locator": "page 3", **changes}
    return flow({key: value for key, value in written.items() if value is not None})


NEEDED = ("peak", "memory", "memory_bandwidth", "scaleup_bandwidth", "power", "announced")


def entry_text(
    *claims: dict[str, Any] | str, parts: dict[str, int] | None = None, **head: Any
) -> str:
    """An entry file; with no claims it has those that every chip needs.

    A head value of None leaves its line out.
    """
    lines = {
        "id": "acme/one",
        "kind": "package",
        "name": "Acme One",
        "vendor": "acme",
        "summary": "A chip for tests.",
        "status": f"[{flow({'state': 'shipping', 'as_of': READ, 'source': SOURCE})}]",
        **head,
    }
    text = "".join(f"{key}: {value}\n" for key, value in lines.items() if value is not None)
    if parts:
        text += "contains:\n" + "".join(
            f"  - {{ref: {ref}, count: {n}}}\n" for ref, n in parts.items()
        )
    listed = [
        one if isinstance(one, str) else flow(one)
        for one in claims or [claim(name) for name in NEEDED]
    ]
    return text + "claims:\n" + "".join(f"  - {one}\n" for one in listed)


VENDOR = (
    "id: acme\nname: Acme\nwebsite: https://acme.example/\nsummary: A maker of chips for tests.\n"
)
MODEL = (
    "id: tiny-1b\nkind: dense\nname: Tiny 1B\ndeveloper: Acme\nsummary: A model for "
    "tests.\nclaims:\n"
    f"  - {{field: params, value: 1e9, unit: param, source: {SOURCE}, as_of: 2026-11-21, locator: "
    f"Table 1}}\n"
)
TOPICS = (
    "topics:\n  - {id: chips, title: Chips, intro: What chips do., few: The sample has no works.}\n"
)
GLOSSARY = (
    "terms:\n  - {id: ridge-point, term: ridge point, symbol: [R], unit: FLOP/byte, names: "
    "[flop_per_byte],\n"
    "     meaning: Where arithmetic and memory take as long., chapter: "
    "calculators/ridge-point.md}\n"
)
LEDGER = (
    f"source: {SOURCE}\nfile: doc.txt\nrows:\n"
    "  - {id: two-and-two, line: 1, topic: sums, statement: Two and two is four., stated: {value: "
    "4},\n"
    "     verdict: holds, call: 2 + 2, why: Counting shows it.}\n"
)


def bib(key: str = SOURCE, kind: str = "misc", **changes: str | None) -> str:
    """A valid BibTeX entry; a field of None is left out."""
    fields: dict[str, str | None] = {
        "author": "Doe, Jane and Roe, Richard",
        "title": f"The work {key}",
        "type": "source",
        "year": "2026",
        "url": f"https://acme.example/{key}",
        "urldate": "2026-11-21",
        "tier": "vendor",
        "keywords": "chips",
        "annote": "Shows what the chip does; read it first.",
        **changes,
    }
    inside = ",\n".join(
        f"  {name} = {{{value}}}" for name, value in fields.items() if value is not None
    )
    return f"@{kind}{{{key},\n{inside}\n}}\n"


def place(text: str, needle: str) -> tuple[int, int]:
    """Line and column of the first place where `needle` stands in a text."""
    before = text[: text.index(needle)]
    return before.count("\n") + 1, len(before) - (before.rfind("\n") + 1) + 1


def assert_clean(error: DataError | Exception) -> None:
    """Every line of an error is one printable problem: place, found, expected, how to mend it."""
    problems: tuple[Problem, ...] = getattr(error, "problems", ())
    assert problems and len(str(error).split("\n")) == len(problems)
    for problem in problems:
        line = str(problem)
        assert line.isprintable() and "Traceback" not in line and len(line) < 1500
        assert line.startswith(
            f"{problem.file}:{problem.line}:{problem.column}: {problem.rule}: found "
        )
        assert ", expected " in line and line.endswith(f"; {problem.mend}")
        assert (
            problem.line >= 1
            and problem.column >= 1
            and problem.found
            and problem.expected
            and problem.mend
        )


def write(path: Path, text: str | bytes) -> Path:
    """Write a file and the folders above it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


# Which readers look into which folder when they are given none.
READERS = {
    "accelerators": (
        "flopbook.data.accelerators",
        ("entry_ids", "vendor_ids", "entry", "load_entry", "load_head", "find_id", "vendor"),
    ),
    "models": ("flopbook.data.accelerators", ("model_ids", "model", "load_model")),
    "bibliography": ("flopbook.data.references", ("reference", "references", "topics")),
    "tiers": ("flopbook.data.tiers", ("source_tiers",)),
    "works": ("flopbook.data.works", ("on_file",)),
    "glossary": ("flopbook.data.glossary", ("glossary",)),
    "links": ("flopbook.data.link_status", ("link_statuses",)),
    "names": ("flopbook.data.names", ("other_names",)),
    "ledger": ("flopbook.ledger.rows", ("ledger_rows",)),
    "catalogue": ("flopbook.data.catalogue", ("load_entries", "read_entries", "_loaded")),
}


# What else remembers data that it was made from.
REMEMBERING = (
    ("flopbook.evaluation.terms", ("uses",)),
    ("scripts.website.pages.entry", ("users",)),
    ("scripts.website.pages.works", ("_cited",)),
    ("scripts.website.pages.terms", ("_by_name", "_pattern")),
)
# Modules that name a folder themselves, to show a file of it.
FOLDERS = (
    ("flopbook.checks.lint", "ACCELERATORS", "accelerators"),
    ("flopbook.checks.lint", "BIBLIOGRAPHY", "bibliography"),
    ("flopbook.checks.lint", "DOCS", "docs"),
    ("scripts.website.pages.references", "BIBLIOGRAPHY", "bibliography"),
    ("flopbook.contributing.where", "ACCELERATORS", "accelerators"),
    ("flopbook.contributing.where", "BIBLIOGRAPHY", "bibliography"),
    ("flopbook.contributing.where", "MODELS", "models"),
    ("flopbook.cli.contributing", "ACCELERATORS", "accelerators"),
    ("flopbook.cli.adding", "BIBLIOGRAPHY", "bibliography"),
)


class World:
    """A folder with one vendor, one chip, one model, one reference, one topic and one claim.

    All valid.
    """

    def __init__(self, root: Path) -> None:
        self.root = root
        self.accelerators, self.models = root / "accelerators", root / "models"
        self.bibliography = root / "bibliography"
        self.write("accelerators/acme/vendor.yaml", VENDOR)
        self.write("accelerators/acme/one.yaml", entry_text())
        self.write("models/tiny-1b.yaml", MODEL)
        self.write("bibliography/all.bib", bib())
        self.write("bibliography/topics.yaml", TOPICS)
        self.write("bibliography/glossary.yaml", GLOSSARY)
        self.write("bibliography/claims/acme.yaml", LEDGER)
        self.library = Library(root)

    def write(self, path: str, text: str | bytes) -> str:
        """Write a file of this world; returns its name as messages show it."""
        write(self.root / path, text)
        if hasattr(self, "library"):
            self.library.forget()
        return path

    def entry(self, name: str, /, *claims: Any, **head: Any) -> str:
        """Write the entry `acme/<name>`."""
        head = {"id": f"acme/{name}", **head}
        return self.write(f"accelerators/acme/{name}.yaml", entry_text(*claims, **head))
