"""One link at a time against a real server: methods, redirects, retries, and the guard."""

from __future__ import annotations

import shutil
import socket
import ssl
import subprocess
import threading
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from flopbook.contributing.guard import Guard
from scripts.linkcheck.fetch import Policy, Prober, link_transport, retry_after_seconds
from scripts.linkcheck.results import KINDS, Result
from scripts.linkcheck.schedule import HostLimiter, Limits
from tests.support.linkserver import HUGE, FakeClock, LinkServer
from tests.support.services import ForbiddenListener


def prober(
    guard: Guard, clock: FakeClock, policy: Policy | None = None, delay_s: float = 0.0
) -> Prober:
    limiter = HostLimiter(Limits(jobs=4, per_host=2, delay_s=delay_s), clock)
    return Prober(link_transport(guard), limiter, policy or Policy(timeout_s=10), clock)


def probe(server: LinkServer, clock: FakeClock, path: str, policy: Policy | None = None) -> Result:
    return prober(server.guard(), clock, policy).probe(server.url(path))


@pytest.mark.parametrize(
    ("path", "kind", "status"),
    [
        ("ok", "ok", 200),
        ("missing", "http", 404),
        ("status/403", "http", 403),
        ("status/204", "ok", 204),
        ("status/304", "http", 304),
        ("status/599", "server", 599),
        ("moved", "ok", 200),
        ("found", "ok", 200),
        ("to-missing", "http", 404),
        ("nowhere", "http", 302),
        ("loop", "redirects", None),
        ("chain/10", "redirects", None),
        ("chain/9", "ok", 200),
        ("cookie", "ok", 200),
        ("flaky", "ok", 200),
        ("down", "server", 500),
        ("head-405", "ok", 200),
        ("head-404", "ok", 200),
        ("head-drops", "ok", 200),
        ("huge", "ok", 200),
        ("huge-get", "ok", 200),
        ("many-headers", "broken", None),
        ("garbage", "broken", None),
        ("drops", "broken", None),
    ],
)
def test_each_behaviour_has_its_class(
    server: LinkServer, clock: FakeClock, path: str, kind: str, status: int | None
) -> None:
    result = probe(server, clock, path)
    assert (result.kind, result.status) == (kind, status), result
    assert result.kind in KINDS
    assert result.ok or result.detail


def test_head_comes_first_and_is_enough(server: LinkServer, clock: FakeClock) -> None:
    probe(server, clock, "ok")
    assert server.log == [("HEAD", "/ok")]


def test_get_follows_a_head_that_fails(server: LinkServer, clock: FakeClock) -> None:
    probe(server, clock, "head-404")
    assert server.log == [("HEAD", "/head-404"), ("GET", "/head-404")]


def test_a_fragment_is_not_sent(server: LinkServer, clock: FakeClock) -> None:
    assert probe(server, clock, "ok#part").ok
    assert server.log == [("HEAD", "/ok")]


def test_permanent_moves_are_told_apart(server: LinkServer, clock: FakeClock) -> None:
    moved, redirected = probe(server, clock, "moved"), probe(server, clock, "found")
    assert (moved.moved, moved.final_url) == (True, server.url("ok"))
    assert not redirected.moved


@pytest.mark.parametrize(("path", "wait"), [("busy/seconds", 7.0), ("busy/date", 30.0)])
def test_retry_after_is_honoured(
    server: LinkServer, clock: FakeClock, path: str, wait: float
) -> None:
    assert probe(server, clock, path).ok
    assert clock.slept == [wait]


def test_retry_after_holds_back_the_other_links_of_the_host(
    server: LinkServer, clock: FakeClock
) -> None:
    checker = prober(server.guard(), clock, Policy(retries=1))
    assert checker.probe(server.url("busy/seconds")).ok
    limiter = checker._limiter
    limiter.pause("127.0.0.1", 40.0)
    checker.probe(server.url("ok"))
    assert clock.slept == [7.0, 40.0]


def test_a_long_retry_after_is_not_waited_for_and_not_ignored(
    server: LinkServer, clock: FakeClock
) -> None:
    result = probe(server, clock, "busy/long")
    assert (result.kind, result.status, clock.slept) == ("rate-limited", 429, [])
    assert "99999 s" in result.detail
    assert len(server.log) == 1


def test_retry_after_that_says_nothing_falls_back_to_backoff(
    server: LinkServer, clock: FakeClock
) -> None:
    assert probe(server, clock, "busy/nonsense").ok
    assert clock.slept == [2.0]


def test_backoff_doubles_and_ends(server: LinkServer, clock: FakeClock) -> None:
    assert probe(server, clock, "down", Policy(retries=3)).kind == "server"
    assert clock.slept == [2.0, 4.0, 8.0]


def test_not_found_is_not_retried(server: LinkServer, clock: FakeClock) -> None:
    probe(server, clock, "missing")
    assert server.log == [("HEAD", "/missing"), ("GET", "/missing")]
    assert clock.slept == []


def test_silence_is_a_timeout_and_retried_once(server: LinkServer, clock: FakeClock) -> None:
    result = probe(server, clock, "slow", Policy(timeout_s=0.05, retries=3))
    assert result.kind == "timeout"
    assert [method for method, _ in server.log] == ["HEAD", "GET"]


def test_a_closed_port_is_a_failed_connection(clock: FakeClock) -> None:
    with socket.create_server(("127.0.0.1", 0)) as closed:
        port = closed.getsockname()[1]
    guard = Guard(allow=frozenset({("127.0.0.1", port)}), resolve=lambda host: [host])
    assert prober(guard, clock).probe(f"http://127.0.0.1:{port}/").kind == "connect"


def test_a_name_that_does_not_resolve(server: LinkServer, clock: FakeClock) -> None:
    result = prober(server.guard(), clock).probe("https://no-such-host.test/")
    assert (result.kind, clock.slept) == ("dns", [])


@pytest.mark.parametrize("path", ["huge-get", "huge-redirect-get"])
def test_bodies_are_not_read(server: LinkServer, clock: FakeClock, path: str) -> None:
    """Not even that of a redirect, which `requests` would read by itself."""
    assert probe(server, clock, path).ok
    server.close()
    assert server.inner.sent < HUGE


@pytest.mark.parametrize("path", ["forbidden", "forbidden-later"])
def test_a_redirect_to_a_forbidden_host_is_refused(
    server: LinkServer, forbidden: ForbiddenListener, clock: FakeClock, path: str
) -> None:
    result = probe(server, clock, path)
    assert result.kind == "refused"
    assert f"redirected to {forbidden.url}" in result.detail


def test_a_forbidden_link_is_refused(forbidden: ForbiddenListener, clock: FakeClock) -> None:
    assert prober(Guard(), clock).probe(forbidden.url).kind == "refused"


@pytest.mark.parametrize(
    "target",
    [
        "file:///etc/hostname",
        "ftp://127.0.0.2/",
        "javascript:alert(1)",
        "gopher://127.0.0.2/",
        "http://user:word@127.0.0.1:{port}/ok",
        "//127.0.0.2:{forbidden}/secret",
        "http://127.0.0.1:{port}@127.0.0.2:{forbidden}/",
        "http://127.0.0.2:{forbidden}\\@127.0.0.1:{port}/ok",
        "http://[::ffff:127.0.0.2]:{forbidden}/",
        "http://2130706434:{forbidden}/",
        "http://0x7f.2:{forbidden}/",
        "http://127.2:{forbidden}/",
        "http://inside.test:{forbidden}/",
        "http://[",
        "http://127.0.0.1:99999/",
    ],
)
def test_redirect_targets_that_must_not_be_called(
    server: LinkServer, forbidden: ForbiddenListener, clock: FakeClock, target: str
) -> None:
    """The real resolver for numbers, so that odd spellings mean what they mean to the system."""
    target = target.format(port=server.port, forbidden=forbidden.port)
    guard = Guard(allow=frozenset({("127.0.0.1", server.port)}), resolve=_numbers_only)
    result = prober(guard, clock, Policy(retries=0)).probe(server.url(f"to?{target}"))
    assert result.kind in ("refused", "bad-url", "dns"), result
    assert [path.partition("?")[0] for _, path in server.log] == ["/to"]


def _numbers_only(host: str) -> list[str]:
    if host == "inside.test":
        return ["127.0.0.1", "127.0.0.2"]  # one good address does not excuse the other
    flags = socket.AI_NUMERICHOST if any(c.isalpha() and c not in "abcdefx" for c in host) else 0
    return [
        str(info[4][0])
        for info in socket.getaddrinfo(host, None, type=socket.SOCK_STREAM, flags=flags)
    ]


def test_a_name_that_changes_its_mind_is_called_at_the_checked_address(
    server: LinkServer, clock: FakeClock
) -> None:
    """DNS rebinding: the second answer would be the forbidden host."""
    answers = iter(["127.0.0.1", "127.0.0.2", "127.0.0.2"])
    guard = Guard(
        allow=frozenset({("127.0.0.1", server.port)}), resolve=lambda host: [next(answers)]
    )
    result = prober(guard, clock).probe(f"http://rebind.test:{server.port}/head-404")
    assert result.ok
    assert {headers["Host"] for headers in server.inner.headers} == {f"rebind.test:{server.port}"}


def test_the_next_address_is_tried_when_one_does_not_answer(
    server: LinkServer, clock: FakeClock
) -> None:
    """127.0.0.3 stands for an address without a listener."""
    allowed = frozenset({("127.0.0.1", server.port), ("127.0.0.3", server.port)})
    guard = Guard(allow=allowed, resolve=lambda host: ["127.0.0.3", "127.0.0.1"])
    assert prober(guard, clock).probe(f"http://two.test:{server.port}/ok").ok


def test_nothing_is_taken_from_the_environment(
    server: LinkServer,
    forbidden: ForbiddenListener,
    clock: FakeClock,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:
    """Neither a proxy nor credentials."""
    netrc = tmp_path / "netrc"
    netrc.write_text("machine 127.0.0.1 login someone password secret\n")
    monkeypatch.setenv("NETRC", str(netrc))
    monkeypatch.setenv("HTTP_PROXY", f"http://127.0.0.2:{forbidden.port}")
    assert probe(server, clock, "ok").ok
    assert all("Authorization" not in headers for headers in server.inner.headers)


def test_cookies_do_not_outlive_a_check(server: LinkServer, clock: FakeClock) -> None:
    checker = prober(server.guard(), clock)
    checker.probe(server.url("cookie"))
    checker.probe(server.url("ok"))
    assert "Cookie" not in server.inner.headers[-1]


def test_tls_names_the_host_and_not_the_address(clock: FakeClock) -> None:
    """The greeting carries the name of the URL (SNI); an answer that is no TLS is a TLS failure."""
    greeting: list[bytes] = []
    with socket.create_server(("127.0.0.1", 0)) as listener:
        thread = threading.Thread(target=_take_greeting, args=(listener, greeting), daemon=True)
        thread.start()
        port = listener.getsockname()[1]
        guard = Guard(allow=frozenset({("127.0.0.1", port)}), resolve=lambda host: ["127.0.0.1"])
        result = prober(guard, clock, Policy(retries=0)).probe(f"https://secure.test:{port}/")
        thread.join(10)
    assert result.kind == "tls"
    assert b"secure.test" in greeting[0]


def _take_greeting(listener: socket.socket, greeting: list[bytes]) -> None:
    connection, _ = listener.accept()
    with connection:
        greeting.append(connection.recv(4096))
        connection.sendall(b"HTTP/1.0 400 this is not TLS\r\n\r\n")


@pytest.fixture
def certificate(tmp_path: Path) -> Path:
    """A self-signed certificate for secure.test."""
    openssl = shutil.which("openssl")
    if openssl is None:
        pytest.skip("needs the openssl command")
    pem = tmp_path / "both.pem"
    command = f"{openssl} req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2"
    name = "/CN=secure.test -addext subjectAltName=DNS:secure.test"
    files = f"-keyout {tmp_path / 'key.pem'} -out {tmp_path / 'cert.pem'}"
    subprocess.run(f"{command} -subj {name} {files}".split(), check=True, capture_output=True)
    pem.write_text((tmp_path / "key.pem").read_text() + (tmp_path / "cert.pem").read_text())
    return pem


@pytest.mark.parametrize(("host", "kind"), [("secure.test", "ok"), ("other.test", "tls")])
def test_certificates_are_checked_against_the_name_of_the_link(
    server: LinkServer,
    clock: FakeClock,
    certificate: Path,
    monkeypatch: pytest.MonkeyPatch,
    host: str,
    kind: str,
) -> None:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate)
    server.inner.socket = context.wrap_socket(server.inner.socket, server_side=True)
    monkeypatch.setenv("REQUESTS_CA_BUNDLE", str(certificate.with_name("cert.pem")))
    guard = server.guard(secure_test="127.0.0.1", other_test="127.0.0.1")
    result = prober(guard, clock, Policy(retries=0)).probe(f"https://{host}:{server.port}/ok")
    assert result.kind == kind, result


@pytest.mark.parametrize(
    ("header", "seconds"),
    [
        ("0", 0.0),
        (" 120 ", 120.0),
        ("Sun, 09 Sep 2001 01:47:40 GMT", 60.0),
        ("Sun, 09 Sep 2001 01:45:40 GMT", 0.0),
        ("soon", None),
        ("-5", None),
        ("1.5", None),
        ("", None),
        (None, None),
    ],
)
def test_retry_after_forms(header: str | None, seconds: float | None) -> None:
    assert retry_after_seconds(header, 1_000_000_000.0) == seconds


@settings(deadline=None)
@given(st.text())
def test_retry_after_takes_garbage(text: str) -> None:
    seconds = retry_after_seconds(text, 0.0)
    assert seconds is None or seconds >= 0
