"""The templates of the site, one page of each: what reviewers look at and Lighthouse measures."""

from __future__ import annotations

import argparse
from pathlib import Path
from types import MappingProxyType

ROOT = Path(__file__).resolve().parents[3]
TEMPLATES = MappingProxyType(
    {
        "home": "",
        "chapter": "handbook/fsdp/",
        "chapters": "handbook/",
        "chip": "accelerators/nvidia/h100-sxm/",
        "vendor": "accelerators/nvidia/",
        "explorer": "accelerators/",
        "comparison": "compare/h100-sxm-vs-mi300x/",
        "calculator": "calculators/memory/",
        "planner": "planner/",
        "topic": "references/roofline/",
        "works": "references/works/",
        "corrections": "errata/",
        "glossary": "glossary/",
        "notebook": "notebooks/fsdp-limit/",
    }
)


def chosen(names: list[str]) -> dict[str, str]:
    """The templates of these names, all where none is named. Raises KeyError for another name."""
    return {name: TEMPLATES[name] for name in names or TEMPLATES}


def template_parser(description: str | None) -> argparse.ArgumentParser:
    """Options of a program that visits templates: their names, and the built site."""
    parser = argparse.ArgumentParser(
        description=description, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("templates", nargs="*", metavar="NAME", help=f"of {', '.join(TEMPLATES)}")
    parser.add_argument("--site", type=Path, default=ROOT / "site", help="default: site/")
    return parser


def parsed(parser: argparse.ArgumentParser, arguments: list[str] | None) -> argparse.Namespace:
    """The options, their templates known and their site built; else the program ends with 2."""
    options = parser.parse_args(arguments)
    if unknown := [name for name in options.templates if name not in TEMPLATES]:
        parser.error(f"no template {unknown[0]}; there are {', '.join(TEMPLATES)}")
    if not (options.site / "index.html").is_file():
        parser.error(f"there is no site in {options.site}; run `make site` first")
    return options
