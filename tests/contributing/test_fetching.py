"""The guarded way to ask a service: what comes back, what is tried again, what is never called."""

from __future__ import annotations

import gzip
import shlex
import shutil
import socket
import ssl
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from flopbook.contributing import fetching
from flopbook.contributing.fetching import Fetcher, FetchError
from flopbook.contributing.guard import Guard
from tests.support.services import ForbiddenListener, Reply, Services


def failure(services: Services, url: str) -> FetchError:
    with pytest.raises(FetchError) as caught:
        services.fetcher().get(url)
    assert "\n" not in str(caught.value)
    return caught.value


def test_a_page_comes_back_whole(services: Services) -> None:
    url = services.plays("page", "héllo".encode())
    answer = services.fetcher().get(f"{url}?a=1#part", "text/html")
    assert (answer.url, answer.status, answer.body) == (f"{url}?a=1#part", 200, "héllo".encode())
    assert services.asked == [("/page", {"a": "1"})] and services.inner.accepted == ["text/html"]


def test_redirects_are_followed(services: Services) -> None:
    services.plays("there", b"here")
    url = services.plays("away", Reply(302, headers={"Location": "/there"}, body=b"x" * 100))
    answer = services.fetcher().get(url)
    assert (answer.body, answer.url) == (b"here", services.url("there"))


@pytest.mark.parametrize("asked", ["7", "60"])
def test_a_busy_service_is_asked_again_when_it_says(services: Services, asked: str) -> None:
    url = services.plays("busy", Reply(429, headers={"Retry-After": asked}), b"now")
    assert services.fetcher().get(url).body == b"now" and services.slept == [float(asked)]


def test_a_service_that_stumbles_is_asked_again(services: Services) -> None:
    url = services.plays("flaky", Reply(500), Reply(503), b"now")
    assert services.fetcher().get(url).body == b"now" and services.slept == [2.0, 4.0]


def test_an_answer_that_is_cut_off_is_asked_for_again(services: Services) -> None:
    url = services.plays("cut", Reply(body=b"half", cut=10), b"whole")
    assert services.fetcher().get(url).body == b"whole"
    services.plays("cut", Reply(body=b"half", cut=10))
    assert failure(services, url).kind == "broken"


@pytest.mark.parametrize(
    ("reply", "kind", "says", "times"),
    [
        (Reply(404), "missing", "answers with status 404", 1),
        (Reply(403), "missing", "status 403", 1),
        (Reply(500), "server", "127.0.0.1 fails (status 500)", 3),
        (Reply(429), "busy", "is busy (status 429)", 3),
        (Reply(429, headers={"Retry-After": "3600"}), "busy", "asks to wait 3600 s", 1),
        (Reply(503, headers={"Retry-After": "soon"}), "busy", "try again later", 3),
        (Reply(302), "missing", "status 302", 1),
        (Reply(302, headers={"Location": "/page"}), "missing", "more than 6 redirects", 7),
        (Reply(302, headers={"Location": "http://["}), "broken", "no address", 3),
        (
            Reply(302, headers={"Location": "file:///etc/passwd"}),
            "refused",
            "only http and https",
            1,
        ),
    ],
)
def test_what_a_failure_is_called(
    services: Services, reply: Reply, kind: str, says: str, times: int
) -> None:
    error = failure(services, services.plays("page", reply))
    assert (error.kind, len(services.asked)) == (kind, times) and says in str(error)


def test_the_forbidden_host_is_never_called(
    services: Services, forbidden: ForbiddenListener
) -> None:
    """Neither asked for nor through a redirect; the fixture fails if a connection arrives."""
    for url in (
        forbidden.url,
        services.plays("away", Reply(301, headers={"Location": forbidden.url})),
    ):
        error = failure(services, url)
        assert (
            error.kind == "refused"
            and "127.0.0.2 is not an address on the public internet" in str(error)
        )


@pytest.mark.parametrize("url", ["http://name.test/", "https://127.0.0.1:1/"])
def test_no_connection(services: Services, url: str) -> None:
    assert failure(services, url).kind in ("offline", "refused")


def test_nobody_listens(services: Services) -> None:
    services.close()
    assert failure(services, services.url("page")).kind == "offline"
    services.__init__()  # type: ignore[misc]


def test_too_much_is_not_read(services: Services, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fetching, "MOST_BYTES", 100)
    assert services.fetcher().get(services.plays("page", b"x" * 100)).body == b"x" * 100
    assert "more than 100 bytes" in str(failure(services, services.plays("page", b"x" * 101)))


def test_a_body_in_chunks_comes_back_whole() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
        guard = Guard(allow=frozenset({("127.0.0.1", port)}), resolve=lambda host: [host])
        thread = threading.Thread(target=answer_in_chunks, args=(listener,), daemon=True)
        thread.start()
        assert Fetcher(guard, 10.0).get(f"http://127.0.0.1:{port}/").body == b"half, whole"
        thread.join(10)


def answer_in_chunks(listener: socket.socket) -> None:
    connection, _ = listener.accept()
    with connection:
        connection.recv(4096)
        head = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
        connection.sendall(head + b"5\r\nhalf,\r\n6\r\n whole\r\n0\r\n\r\n")


def test_a_body_is_not_decompressed(services: Services) -> None:
    """A few bytes may unpack into gigabytes; we ask for none of it, and take none apart."""
    packed = gzip.compress(b"x" * 1000)
    reply = Reply(headers={"Content-Encoding": "gzip"}, body=packed)
    assert services.fetcher().get(services.plays("page", reply)).body == packed


def test_nothing_is_taken_from_the_environment(
    services: Services,
    forbidden: ForbiddenListener,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """No proxy: through one the guard could not choose the address."""
    for variable in ("HTTP_PROXY", "http_proxy", "ALL_PROXY"):
        monkeypatch.setenv(variable, f"http://127.0.0.2:{forbidden.port}")
    assert services.fetcher().get(services.plays("page", b"x")).body == b"x"


def test_a_name_that_changes_its_mind_is_called_at_the_checked_address(
    services: Services,
) -> None:
    """DNS rebinding: the second answer would be the forbidden host."""
    addresses = iter(["127.0.0.1", "127.0.0.2", "127.0.0.2"])
    allowed = frozenset({("127.0.0.1", services.port)})
    guard = Guard(allow=allowed, resolve=lambda host: [next(addresses)])
    services.plays("page", Reply(500), b"x")
    fetcher = Fetcher(guard, 10.0, sleep=services.slept.append)
    assert fetcher.get(f"http://rebind.test:{services.port}/page").body == b"x"


def test_requests_is_loaded_by_the_first_request_and_not_before() -> None:
    code = (
        "import sys, flopbook.cli.adding, flopbook.contributing.fetching as fetching;"
        "fetching.Fetcher(); sys.exit('requests' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_a_pause_between_two_requests_to_one_host(services: Services) -> None:
    fetcher = services.fetcher(pause_s=3.0)
    url = services.plays("page", b"x")
    for _ in range(3):
        fetcher.get(url)
    assert services.slept == [3.0, 3.0]


@pytest.mark.skipif(shutil.which("openssl") is None, reason="needs openssl to make a certificate")
@pytest.mark.parametrize(
    ("host", "trusted", "fine"),
    [("a.test", True, True), ("b.test", True, False), ("a.test", False, False)],
)
def test_certificates_are_checked(
    services: Services,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    host: str,
    trusted: bool,
    fine: bool,
) -> None:
    """The certificate is checked for the host of the URL, though an IP address is connected to."""
    cert, key = tmp_path / "cert.pem", tmp_path / "key.pem"
    words = shlex.split(
        "req -x509 -newkey rsa:2048 -nodes -days 2 "
        "-subj /CN=a.test -addext subjectAltName=DNS:a.test"
    )
    subprocess.run(
        ["openssl", *words, "-keyout", key, "-out", cert], check=True, capture_output=True
    )
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(cert, key)
    services.inner.socket = context.wrap_socket(services.inner.socket, server_side=True)
    for variable in ("REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE"):  # these would go first
        monkeypatch.delenv(variable, raising=False)
    if trusted:
        monkeypatch.setenv("SSL_CERT_FILE", str(cert))
    services.plays("page", b"safe")
    guard = Guard(allow=frozenset({("127.0.0.1", services.port)}), resolve=lambda _: ["127.0.0.1"])
    fetcher = Fetcher(guard, 10.0, sleep=services.slept.append)
    url = f"https://{host}:{services.port}/page"
    if fine:
        assert fetcher.get(url).body == b"safe"
    else:
        with pytest.raises(FetchError, match="certificate") as caught:
            fetcher.get(url)
        assert caught.value.kind == "broken"
