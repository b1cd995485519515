"""The templates of the site, one page of each: what reviewers look at and Lighthouse measures."""

from __future__ import annotations

from types import MappingProxyType

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
