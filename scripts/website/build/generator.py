"""The only file that knows the site generators: MkDocs for the site, Zensical as the second build."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import yaml

from scripts.website.build.nav import filled
from scripts.website.build.notebooks import as_markdown

ROOT = Path(__file__).resolve().parents[3]
CONFIG = ROOT / "mkdocs.yml"


class BuildError(RuntimeError):
    """The site generator refused the content; the message is its output."""


def mkdocs(site: Path, content: Path) -> None:
    """Build the site from a content tree with MkDocs in strict mode.

    Raises BuildError with its warnings.
    """
    usual = content == ROOT / "build" / "docs" and not site_url()
    config = CONFIG if usual else _config_elsewhere(content)
    _run(
        [
            sys.executable,
            "-m",
            "mkdocs",
            "build",
            "--strict",
            "--site-dir",
            str(site),
            "-f",
            str(config),
        ]
    )


def site_url() -> str:
    """Where the site will stand, from FLOPBOOK_SITE_URL; empty for a site that works at any
    address.

    Only the sitemap, link previews and the page for missing pages need it.
    """
    return os.environ.get("FLOPBOOK_SITE_URL", "").strip()


def _config_elsewhere(content: Path) -> Path:
    """Our configuration for another folder or a known address: a file that inherits all the rest."""
    config = yaml.safe_load(CONFIG.read_text(encoding="utf-8"))
    other = {
        "INHERIT": str(CONFIG),
        "docs_dir": str(content),
        "site_dir": str(content.parent / "site.new"),
        "theme": {"custom_dir": str(ROOT / config["theme"]["custom_dir"])},
        "hooks": [str(ROOT / hook) for hook in config["hooks"]],
    }
    if site_url():
        other["site_url"] = site_url()
    path = content.parent / "mkdocs.yml"
    path.write_text(yaml.safe_dump(other), encoding="utf-8")
    return path


def environment() -> dict[str, str]:
    """Variables for MkDocs: the theme prints a notice about its successor on every start, which
    decisions deal with.
    """
    return {**os.environ, "NO_MKDOCS_2_WARNING": "1", "DISABLE_MKDOCS_2_WARNING": "true"}


def preview(address: str) -> subprocess.Popen[bytes]:
    """Start MkDocs on the usual content with live reload; it rebuilds only pages whose content
    changed.
    """
    command = [
        sys.executable,
        "-m",
        "mkdocs",
        "serve",
        "--no-strict",
        "--dirty",
        "--dev-addr",
        address,
    ]
    return subprocess.Popen([*command, "-f", str(CONFIG)], cwd=ROOT, env=environment())


def _run(command: list[str], folder: Path = ROOT) -> None:
    done = subprocess.run(
        command, cwd=folder, env=environment(), capture_output=True, text=True, check=False
    )
    if done.returncode != 0:
        lines = [line for line in (done.stdout + done.stderr).splitlines() if line.strip()]
        raise BuildError("\n".join(lines[-40:]))


def zensical(tree: dict[str, bytes], work: Path) -> Path:
    """Build the same content with Zensical in strict mode, notebooks as Markdown; the site.

    Raises BuildError.
    """
    if work.exists():
        shutil.rmtree(work)
    for name, content in _without_notebooks(tree).items():
        path = work / "docs" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    (work / "mkdocs.yml").write_text(
        yaml.safe_dump(_zensical_config(), sort_keys=False), encoding="utf-8"
    )
    _run(
        [
            sys.executable,
            "-m",
            "zensical",
            "build",
            "--strict",
            "--clean",
            "--config-file",
            "mkdocs.yml",
        ],
        work,
    )
    return work / "site"


def _without_notebooks(tree: dict[str, bytes]) -> dict[str, bytes]:
    found: dict[str, bytes] = {}
    for name, content in tree.items():
        if not name.endswith(".ipynb"):
            found[name] = content.replace(b".ipynb)", b".md)") if name.endswith(".md") else content
            continue
        body, pictures = as_markdown(content.decode())
        stem = Path(name).stem
        found[f"notebooks/{stem}/{stem}.ipynb"] = content  # where MkDocs puts the file to download
        for picture, data in pictures.items():
            body = body.replace(f"({picture})", f"({stem}-files/{picture})")
            found[f"notebooks/{stem}-files/{picture}"] = data
        found[name.replace(".ipynb", ".md")] = body.encode()
    return found


def _zensical_config() -> dict[str, Any]:
    """Our configuration without what Zensical lacks: it drops unknown plugins silently, so they
    must not be there.
    """
    config = yaml.safe_load(CONFIG.read_text(encoding="utf-8"))
    config |= {"docs_dir": "docs", "site_dir": "site", "plugins": ["search"]}
    config["theme"].pop("custom_dir", None)
    config.pop("hooks", None)
    config["nav"] = yaml.safe_load(yaml.safe_dump(filled(config["nav"])).replace(".ipynb", ".md"))
    return config
