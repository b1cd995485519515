"""Builds the site into site/, and checks the data before and every link after.

Everything is built beside site/ and takes its place in one step at the end: a failure leaves the
old site whole. One build of a checkout runs at a time, a second one waits. Where nothing has
changed since the last build, its site stays. Exit status: 0 built, 1 a check found problems or the
disk refused, 2 bad usage.
"""

from __future__ import annotations

import argparse
import functools
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from flopbook.errors import FlopbookError
from scripts.website.build.exchange import alone, put, refuse_others, staging, tidy_when_ended
from scripts.website.build.steps import BuildSteps

if TYPE_CHECKING:
    from scripts.website.build.generated import GeneratedPart

ROOT = Path(__file__).resolve().parents[1]
_EXPECTED = ("NotebookError", "ExtraError", "RecordingError", "BuildError", "PolicyError")


class CheckFailed(Exception):
    """A check of the build found problems; the message lists them."""


def _parse(arguments: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--site", type=Path, default=ROOT / "site", help="where the site goes (default: site/)"
    )
    parser.add_argument(
        "--jobs", type=int, default=2, help="notebooks that run at once (default: 2)"
    )
    parser.add_argument(
        "--zensical", action="store_true", help="also build with Zensical, into WORK/zensical/site"
    )
    parser.add_argument(
        "--content-only",
        action="store_true",
        help="stop after writing the content (for the live preview)",
    )
    parser.add_argument("--again", action="store_true", help="build even where nothing has changed")
    parser.add_argument(
        "--work",
        type=Path,
        default=ROOT / "build",
        help="for what is made on the way (default: build/)",
    )
    options = parser.parse_args(arguments)
    # A site that is a link keeps being one: what it leads to is replaced.
    options.site, options.work = options.site.resolve(), options.work.absolute()
    return options


def main(arguments: list[str] | None = None) -> int:
    """Run the build; print where the site is and how long each step took."""
    options = _parse(arguments)
    steps = BuildSteps(7 if options.zensical else 6)
    try:
        with tidy_when_ended(), alone(options.work, print):
            refuse_others(options.site, ("index.html",), ROOT)
            # Asked only here: the build that this one waited for may have made the same site.
            if _may_stay(options):
                print(
                    f"site: {options.site / 'index.html'}\n  nothing has changed since it was built"
                )
                return 0
            _build(options, steps)
    except (CheckFailed, FlopbookError) as error:
        return _failed(error, options.site)
    except OSError as error:
        return _failed(f"{error.filename or options.work}: {error.strerror or error}", options.site)
    except Exception as error:
        # By name: the modules of these classes are heavy, and imported by the steps that need them.
        if type(error).__name__ not in _EXPECTED:
            raise
        return _failed(error, options.site)
    if not options.content_only:
        print(f"site: {options.site / 'index.html'}\n{steps.summary()}")
    return 0


def _is_usual(options: argparse.Namespace) -> bool:
    """Whether a build makes the whole site where everybody looks for it."""
    folders = (options.site, options.work) == (ROOT / "site", ROOT / "build")
    return folders and not options.content_only


def _may_stay(options: argparse.Namespace) -> bool:
    """Whether the site is what this build would make."""
    from scripts.website.build.freshness import is_fresh

    if options.again or not _is_usual(options):
        return False
    return is_fresh(ROOT, options.site, options.work, zensical=options.zensical)


def _failed(error: Exception | str, site: Path) -> int:
    state = f"{site} is as it was" if site.exists() else "no site was written"
    print(f"{error}\nbuild failed; {state}", file=sys.stderr)
    return 1


def _build(options: argparse.Namespace, steps: BuildSteps) -> None:
    from scripts.website.build.collecting import collect_rarely
    from scripts.website.build.freshness import note, sources_hash

    collect_rarely()
    content = options.work / "docs"
    # Before anything is read: what is edited from now on is a change.
    sources = sources_hash(ROOT) if _is_usual(options) else ""
    with steps.step("check the data"):
        check_data()
    notebooks, part = _executed(options, steps)
    with steps.step("write the content"):
        from scripts.website.build.content import generate, write
        from scripts.website.build.generated import API

        is_alone = options.jobs == 1
        tree = generate(notebooks, part, preview=options.content_only, is_alone=is_alone)
        refuse_others(content, tree, ROOT)
        changed = write(tree, content, keep=API if options.content_only else "")
        steps.detail(f"{len(tree)} files, {changed} changed")
    if options.content_only:
        return
    with staging(options.site, print) as staged:
        _make(tree, content, staged, options, steps)
        with steps.step("put it in place"):
            put(staged, options.site)
            if sources:
                note(options.site, options.work, sources, zensical=options.zensical)


def _executed(
    options: argparse.Namespace, steps: BuildSteps
) -> tuple[dict[str, str], GeneratedPart]:
    """The notebooks, and what of the content needs none of them, which is made meanwhile."""
    with steps.step("run the notebooks"):
        from scripts.website.build.beside import forked
        from scripts.website.build.generated import from_data
        from scripts.website.build.notebooks import execute_all, sources

        names = [path.stem for path in sources()]
        make = functools.partial(from_data, names, preview=options.content_only)
        with forked(options.jobs == 1, make) as made:
            notebooks = execute_all(steps.detail, options.jobs, preview=options.content_only)
            return notebooks, made()


def _make(
    tree: dict[str, bytes],
    content: Path,
    staged: Path,
    options: argparse.Namespace,
    steps: BuildSteps,
) -> None:
    """The whole site in a folder of its own, checked."""
    from flopbook.data.files import write_made

    with steps.step("build the site"):
        from scripts.website.build import generator, policy, searching, sheets, slim, twins

        is_alone = options.jobs == 1
        with generator.mkdocs(staged, content, is_alone=is_alone):
            plain = twins.twins(tree)
        searching.write_search(staged)
        slim.slim(staged, is_alone=is_alone)
        sheets.join_sheets(staged)
        policy.write_policies(staged, is_alone=is_alone)
        for name, text in plain.items():
            write_made(staged / name, text)
    if not options.zensical:
        tree.clear()  # seventy megabytes, beside which all pages would be read
    with steps.step("check the links of the site"):
        check_links(staged)
    if options.zensical:
        with steps.step("build with Zensical"):
            generator.zensical(tree, options.work / "zensical")


def check_data() -> None:
    """Raise CheckFailed with every problem of the data.

    What is wrong with expressions of prose is told when they are evaluated, with all else of prose.
    """
    from flopbook.checks.lint import lint
    from flopbook.checks.rules import expressions

    if problems := [problem for problem in lint() if problem.rule != expressions.NAME]:
        raise CheckFailed("\n".join([*map(str, problems), f"{len(problems)} problems in the data"]))


def check_links(site: Path) -> None:
    """Raise CheckFailed for a link that leads nowhere, or a page that would ask another host."""
    from scripts.linkcheck.internal import check_built_site
    from scripts.website.build.generator import site_url

    if problems := check_built_site(site, base=site_url() or "/"):
        raise CheckFailed(
            "\n".join([*map(str, problems[:50]), f"{len(problems)} broken links in the site"])
        )


if __name__ == "__main__":
    sys.exit(main())
