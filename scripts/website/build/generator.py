"""All that knows the site generators: MkDocs for the site, Zensical as the second build."""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import yaml

from flopbook.data.files import write_made
from flopbook.data.library import references
from scripts.website.build.beside import ALONE
from scripts.website.build.complaints import complaints
from scripts.website.build.exchange import beside
from scripts.website.build.nav import filled
from scripts.website.build.notebooks import as_markdown

ROOT = Path(__file__).resolve().parents[3]
CONFIG = ROOT / "mkdocs.yml"


class BuildError(RuntimeError):
    """The site generator refused the content; the message has a line for each complaint."""


@contextlib.contextmanager
def mkdocs(site: Path, content: Path, *, is_alone: bool = True) -> Iterator[None]:
    """Build the site from a content tree with MkDocs in strict mode, while the block runs.

    It takes one core, and a second one for notebooks unless it is to work alone. Raises BuildError
    with its warnings at the end of the block.
    """
    is_usual = content == ROOT / "build" / "docs" and not site_url()
    config = CONFIG if is_usual else _config_elsewhere(content)
    options = ["build", "--strict", "--site-dir", str(site), "-f", str(config)]
    variables = environment() | {ALONE: str(int(is_alone))}
    with beside([*_python("mkdocs"), *options], ROOT, variables) as generator:
        yield
        _refuse_failure(*generator.wait())


def preview(address: str) -> subprocess.Popen[bytes]:
    """Start MkDocs on the usual content with live reload; only changed pages are rebuilt."""
    options = ["--no-strict", "--dirty", "--dev-addr", address, "-f", str(CONFIG)]
    return subprocess.Popen([*_python("mkdocs"), "serve", *options], cwd=ROOT, env=environment())


def site_url() -> str:
    """The address of the site from FLOPBOOK_SITE_URL; empty for a site that works at any.

    Only the sitemap, link previews and the page for missing pages need it.
    """
    return os.environ.get("FLOPBOOK_SITE_URL", "").strip()


def _config_elsewhere(content: Path) -> Path:
    """A file that inherits our configuration, for another folder or a known address."""
    config = _read_config()
    overrides = {
        "INHERIT": str(CONFIG),
        "docs_dir": str(content),
        "site_dir": str(content.parent / "site.new"),
        "theme": {"custom_dir": str(ROOT / config["theme"]["custom_dir"])},
        "hooks": [str(ROOT / hook) for hook in config["hooks"]],
    }
    if site_url():
        overrides["site_url"] = site_url()
    path = content.parent / "mkdocs.yml"
    write_made(path, yaml.safe_dump(overrides))
    return path


def _read_config() -> dict[str, Any]:
    config: dict[str, Any] = yaml.safe_load(CONFIG.read_text(encoding="utf-8"))
    return config


def environment() -> dict[str, str]:
    """Variables for both: the day of the site is that of its newest reading, not today.

    Extensions of ours are found from any folder, and the theme is asked for no notice about its
    successor.
    """
    quiet = {"NO_MKDOCS_2_WARNING": "1", "DISABLE_MKDOCS_2_WARNING": "true"}
    day = {"SOURCE_DATE_EPOCH": str(newest_reading())}
    path = os.pathsep.join(filter(None, (os.environ.get("PYTHONPATH"), str(ROOT))))
    return {**os.environ, **quiet, **day, "PYTHONPATH": path}


def newest_reading() -> int:
    """Seconds of the day on which the newest source was read, for the map of the site."""
    days = [work.urldate for work in references().values() if work.urldate]
    newest = datetime.fromisoformat(max(days, default="2026-01-01"))
    return int(newest.replace(tzinfo=UTC).timestamp())


def _python(module: str) -> list[str]:
    return [sys.executable, "-m", module]


def _refuse_failure(status: int, printed: str) -> None:
    if status != 0:
        raise BuildError("\n".join(complaints(printed, ROOT / "docs")))


def zensical(tree: dict[str, bytes], work: Path) -> Path:
    """Build the same content with Zensical in strict mode, notebooks as Markdown; the site.

    Raises BuildError.
    """
    if work.exists():
        shutil.rmtree(work)
    for name, content in _without_notebooks(tree).items():
        write_made(work / "docs" / name, content)
    config = yaml.safe_dump(_zensical_config(), sort_keys=False)
    write_made(work / "mkdocs.yml", config)
    options = ["--strict", "--clean", "--config-file", "mkdocs.yml"]
    with beside([*_python("zensical"), "build", *options], work, environment()) as generator:
        _refuse_failure(*generator.wait())
    return work / "site"


def _without_notebooks(tree: dict[str, bytes]) -> dict[str, bytes]:
    """A content tree in which notebooks are Markdown, with their pictures beside them."""
    files: dict[str, bytes] = {}
    for name, content in tree.items():
        if name.endswith(".ipynb"):
            files |= _notebook_files(name, content)
        elif name.endswith(".md"):
            files[name] = content.replace(b".ipynb)", b".md)")
        else:
            files[name] = content
    return files


def _notebook_files(name: str, content: bytes) -> dict[str, bytes]:
    body, pictures = as_markdown(content.decode())
    stem = Path(name).stem
    files = {f"notebooks/{stem}/{stem}.ipynb": content}  # where MkDocs puts the file to download
    for picture, drawing in pictures.items():
        body = body.replace(f"({picture})", f"({stem}-files/{picture})")
        files[f"notebooks/{stem}-files/{picture}"] = drawing
    files[name.replace(".ipynb", ".md")] = body.encode()
    return files


def _zensical_config() -> dict[str, Any]:
    """Our configuration without what Zensical lacks: it drops unknown plugins silently."""
    config = _read_config()
    config |= {"docs_dir": "docs", "site_dir": "site", "plugins": ["search"]}
    config["theme"].pop("custom_dir", None)
    config.pop("hooks", None)
    nav = yaml.safe_dump(filled(config["nav"]))
    config["nav"] = yaml.safe_load(nav.replace(".ipynb", ".md"))
    return config
