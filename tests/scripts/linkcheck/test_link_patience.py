"""Links that would hold the check for minutes, or fill its report."""

from __future__ import annotations

from scripts.linkcheck import report
from scripts.linkcheck.collect import Link
from scripts.linkcheck.exceptions import Verdict
from scripts.linkcheck.fetch import Policy, Prober, link_transport
from scripts.linkcheck.results import Result
from scripts.linkcheck.schedule import HostLimiter, Limits
from tests.support.linkserver import FakeClock, LinkServer


class _SlowClock(FakeClock):
    """Half a minute passes between any two looks at it."""

    def monotonic(self) -> float:
        self.now += 30
        return self.now


def _probe(server: LinkServer, path: str, clock: FakeClock) -> Result:
    limiter = HostLimiter(Limits(jobs=1, per_host=1, delay_s=0.0), FakeClock())
    return Prober(link_transport(server.guard()), limiter, Policy(), clock).probe(server.url(path))


def test_the_requests_of_a_link_have_a_limit_together(server: LinkServer) -> None:
    """Ten redirects of 19 s each, three times over, held a lane of the check for ten minutes."""
    result = _probe(server, "chain/9", _SlowClock())
    assert result.kind == "timeout" and "no end after 120 s" in result.detail
    assert len(server.log) == 5  # of 30 s each, and none after them: no retry either
    assert _probe(server, "chain/9", FakeClock()).ok


def test_a_long_address_of_a_server_is_cut_in_messages(server: LinkServer) -> None:
    result = _probe(server, "to?http://127.0.0.2/" + "y" * 60_000, FakeClock())
    assert result.kind == "refused" and len(result.detail) < 600
    url = server.url("moved")
    moved = Result(url, "ok", 200, "200 OK", "https://a.example/" + "y" * 60_000, moved=True)
    places = {url: [Link("README.md", 1, url)]}
    text = report.as_text(report.Report(places, {url: moved}, Verdict(), "exceptions.yaml"))
    assert "moved for good" in text and max(map(len, text.splitlines())) < 600
