"""The whole command: exit status, report and options, in this process and as a program."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from scripts import check_links
from scripts.linkcheck.results import Result
from tests.support.linkserver import FakeClock, LinkServer
from tests.support.services import ForbiddenListener

ROOT = Path(__file__).resolve().parents[3]
REASON = "Answers 403 to programs; opened by hand."


@pytest.fixture
def tree(tmp_path: Path, server: LinkServer, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A small project whose links all work."""
    for name in (
        "http_proxy",
        "https_proxy",
        "all_proxy",
        "HTTP_PROXY",
        "HTTPS_PROXY",
        "ALL_PROXY",
    ):
        monkeypatch.delenv(name, raising=False)
    add(tmp_path, "README.md", f"# Title\n\nSee [this]({server.url('ok')}#part).\n")
    add(tmp_path, "docs/index.md", f"{server.url('ok')} and {server.url('head-405')}\n")
    return tmp_path


def add(root: Path, name: str, text: str) -> None:
    path = root / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def except_(root: Path, url: str, expect: str) -> None:
    add(
        root,
        "scripts/link_exceptions.yaml",
        f"- {{url: '{url}', reason: '{REASON}', expect: {expect}, until: 2001-12-31}}\n",
    )


def main(tree: Path, server: LinkServer, *arguments: str) -> int:
    """Run the command; each run is a minute later than the requests before it."""
    clock = FakeClock()
    clock.now += 60.0 * len(server.log)
    return check_links.main(["--root", str(tree), *arguments], server.guard(), clock)


def test_all_fine(tree: Path, server: LinkServer, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(tree, server) == 0
    out, err = capsys.readouterr()
    assert out == (
        "links: 2 addresses in 3 places: 2 work (0 known from an earlier run, 0 moved),"
        " 0 excused, 0 broken; 0 unused exceptions\n"
    )
    assert "checking links: 2 of 2, 0 failing" in err


def test_each_place_of_a_broken_link_is_named(
    tree: Path, server: LinkServer, capsys: pytest.CaptureFixture[str]
) -> None:
    url = server.url("missing")
    add(tree, "docs/a.md", f"\n{url}#one\n")
    add(tree, "bibliography/b.bib", f"@misc{{b,\n  url = {{{url}}},\n}}\n")
    assert main(tree, server) == 1
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == f"bibliography/b.bib:2: broken-link: {url}: http: 404 Not Found"
    assert lines[1] == f"docs/a.md:2: broken-link: {url}#one: http: 404 Not Found"
    assert len(lines) == 3


def test_a_forbidden_redirect_is_a_broken_link(
    tree: Path, server: LinkServer, forbidden: ForbiddenListener, capsys: pytest.CaptureFixture[str]
) -> None:
    add(tree, "docs/a.md", server.url("forbidden"))
    assert main(tree, server) == 1
    assert f"refused: redirected to {forbidden.url}: host 127.0.0.2" in capsys.readouterr().out


def test_a_moved_link_is_mentioned_and_no_fault(
    tree: Path, server: LinkServer, capsys: pytest.CaptureFixture[str]
) -> None:
    add(tree, "docs/a.md", server.url("moved"))
    assert main(tree, server) == 0
    assert (
        f"docs/a.md:1: moved: {server.url('moved')}: moved for good to" in capsys.readouterr().out
    )


def test_an_exception_makes_it_fine(tree: Path, server: LinkServer) -> None:
    add(tree, "docs/a.md", server.url("status/403"))
    assert main(tree, server) == 1
    except_(tree, server.url("status/403"), "403")
    assert main(tree, server) == 0


@pytest.mark.parametrize(
    ("path", "why"), [("ok", "its link works now"), ("other", "no link matches it")]
)
def test_an_unused_exception_is_a_fault(
    tree: Path, server: LinkServer, capsys: pytest.CaptureFixture[str], path: str, why: str
) -> None:
    except_(tree, server.url(path), "403")
    assert main(tree, server) == 1
    place = "scripts/link_exceptions.yaml:1"
    line = f"{place}: unused-exception: {server.url(path)}: {why}; remove the entry"
    assert line in capsys.readouterr().out


def test_the_second_run_asks_for_nothing(tree: Path, server: LinkServer) -> None:
    main(tree, server)
    asked = len(server.log)
    assert main(tree, server) == 0
    assert len(server.log) == asked
    assert main(tree, server, "--max-age", "0") == 0
    assert len(server.log) == 2 * asked


def test_without_the_cache(tree: Path, server: LinkServer) -> None:
    assert main(tree, server, "--no-cache") == 0
    assert not (tree / ".cache").exists()


def test_results_are_kept_before_the_run_ends(
    tree: Path, server: LinkServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A run that is killed loses the last few results, not those of an hour."""
    monkeypatch.setattr(check_links, "_SAVED_EVERY", 1)
    kept: list[int] = []
    probe = check_links.Prober.probe

    def watched(prober: check_links.Prober, url: str) -> Result:
        path = tree / ".cache" / "links.json"
        kept.append(len(json.loads(path.read_text())["results"]) if path.exists() else 0)
        return probe(prober, url)

    monkeypatch.setattr(check_links.Prober, "probe", watched)
    assert main(tree, server, "--per-host", "1") == 0
    assert kept == [0, 1]


def test_only(tree: Path, server: LinkServer) -> None:
    except_(tree, "https://no-link.test/", "403")
    assert main(tree, server, "--only", "/ok") == 0
    assert server.log == [("HEAD", "/ok")]


def test_json(tree: Path, server: LinkServer, capsys: pytest.CaptureFixture[str]) -> None:
    add(tree, "docs/a.md", server.url("status/403"))
    except_(tree, server.url("status/403"), "http")
    assert main(tree, server, "--json") == 0
    document = json.loads(capsys.readouterr().out)
    assert document["summary"] == {
        "addresses": 3,
        "broken": 0,
        "excused": 1,
        "unused_exceptions": 0,
    }
    by_url = {link["url"]: link for link in document["links"]}
    assert by_url[server.url("status/403")]["exception_line"] == 1
    assert by_url[server.url("ok")]["places"][0] == {
        "file": "README.md",
        "line": 3,
        "url": f"{server.url('ok')}#part",
    }


def test_no_network_is_one_line(
    tree: Path, server: LinkServer, capsys: pytest.CaptureFixture[str]
) -> None:
    (tree / "README.md").unlink()
    add(tree, "docs/index.md", "".join(f"https://host-{n}.test/\n" for n in range(9)))
    assert main(tree, server) == 1
    out, err = capsys.readouterr()
    assert (out, err) == (
        "",
        "check_links: no network: none of 9 hosts resolves, 9 links not checked\n",
    )


def test_one_host_that_resolves_means_there_is_a_network(tree: Path, server: LinkServer) -> None:
    add(tree, "docs/a.md", "".join(f"https://host-{n}.test/\n" for n in range(4)))
    assert main(tree, server) == 1
    assert ("HEAD", "/ok") in server.log


def test_a_proxy_needs_consent(
    tree: Path,
    server: LinkServer,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """The test server plays the proxy: it is asked for the whole address."""
    monkeypatch.setenv("http_proxy", server.url(""))
    assert main(tree, server) == 2
    assert "--allow-proxy" in capsys.readouterr().err
    assert server.log == []
    main(tree, server, "--allow-proxy")
    assert ("HEAD", server.url("ok")) in server.log


def test_behind_a_proxy_forbidden_addresses_stay_forbidden(
    tree: Path, server: LinkServer, forbidden: ForbiddenListener, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("http_proxy", server.url(""))
    add(tree, "docs/a.md", forbidden.url)
    assert main(tree, server, "--allow-proxy", "--only", "secret") == 1
    assert server.log == []


def test_text_from_servers_cannot_drive_the_terminal() -> None:
    assert check_links.report.printable("a\x1b[31mb\r\n") == "a?[31mb??"


def run(root: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "scripts.check_links", "--root", str(root), *arguments]
    clean = {
        name: setting for name, setting in os.environ.items() if not name.lower().endswith("_proxy")
    }
    return subprocess.run(
        command,
        cwd=ROOT,
        capture_output=True,
        text=True,
        env=clean,
        timeout=120,
        check=False,
    )


def test_program_lists_links(tmp_path: Path) -> None:
    add(tmp_path, "README.md", "\nhttps://a.test/\n")
    done = run(tmp_path, "--list")
    assert (done.returncode, done.stdout, done.stderr) == (0, "README.md:2: https://a.test/\n", "")
    assert json.loads(run(tmp_path, "--list", "--json").stdout) == [
        {"file": "README.md", "line": 2, "url": "https://a.test/"}
    ]


def test_program_without_links_is_fine(tmp_path: Path) -> None:
    assert run(tmp_path).returncode == 0


def test_program_refuses_forbidden_links(tmp_path: Path, forbidden: ForbiddenListener) -> None:
    add(tmp_path, "README.md", forbidden.url)
    done = run(tmp_path)
    assert (done.returncode, "Traceback" in done.stderr) == (1, False)
    assert "refused: host 127.0.0.2" in done.stdout


@pytest.mark.parametrize(
    "arguments",
    [
        ["--nonsense"],
        ["--jobs", "0"],
        ["--jobs", "many"],
        ["--timeout", "-1"],
        ["--timeout", "nan"],
        ["--max-age", "inf"],
        ["--only", "("],
        ["--only", "no-such-link"],
        ["--root", "/no/such/folder"],
    ],
)
def test_program_with_bad_usage(tmp_path: Path, arguments: list[str]) -> None:
    done = run(tmp_path, *arguments)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("check_links: ") and done.stderr.count("\n") == 1


def test_program_with_a_bad_exceptions_file(tmp_path: Path) -> None:
    add(tmp_path, "scripts/link_exceptions.yaml", "- {url: https://a.test/, expect: 403}\n")
    done = run(tmp_path)
    assert done.returncode == 2
    assert done.stderr.startswith("scripts/link_exceptions.yaml:1:3: reason: ")
