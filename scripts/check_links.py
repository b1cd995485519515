"""Check every http(s) link of data and prose (`make links`).

Exit status: 0 all links work or are excused; 1 a link is broken or an exception is unused; 2 bad
usage or a bad exceptions file.
"""

from __future__ import annotations

import argparse
import datetime
import json
import math
import re
import sys
import threading
from collections import Counter
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict
from pathlib import Path
from typing import NoReturn

from flopbook.contributing.fetching import Fetcher
from flopbook.contributing.guard import STANDARD_PORTS, Guard, Refused, Unresolved
from flopbook.contributing.transport import Transport, environment_proxies
from flopbook.data import link_status as linkstatus
from flopbook.errors import DataError, FlopbookError
from scripts.linkcheck import exceptions, report, status
from scripts.linkcheck.cache import DAY_S, DEFAULT_AGES_S, Cache
from scripts.linkcheck.collect import Link, by_address, collect
from scripts.linkcheck.fetch import Policy, Prober, link_transport
from scripts.linkcheck.results import Result
from scripts.linkcheck.schedule import Clock, HostLimiter, Limits, run_in_lanes

ROOT = Path(__file__).resolve().parent.parent
EXCEPTIONS = "scripts/link_exceptions.yaml"
STATUS = f"bibliography/{linkstatus.FILE}"
# With fewer hosts than this, the plain report is as short as the line that says there is no
# network.
_FEWEST_HOSTS_FOR_NO_NETWORK = 3
_MOST_HOSTS_TRIED = 20
_SAVED_EVERY = 25  # results


class UsageError(Exception):
    """Bad input of the user's; the text is the one line that is printed."""


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        raise UsageError(f"{message}; see --help")


def main(
    argv: Sequence[str] | None = None, guard: Guard | None = None, clock: Clock | None = None
) -> int:
    """Run the check; tests pass a `guard` that lets this machine through, and a `clock`."""
    try:
        options = _parse(argv)
        return _run(options, guard or Guard(), clock or Clock())
    except exceptions.BadExceptions as error:
        print("\n".join(report.printable(line) for line in error.errors), file=sys.stderr)
    except (UsageError, FlopbookError, OSError) as error:
        print(f"check_links: {report.printable(str(error))}", file=sys.stderr)
    except KeyboardInterrupt:
        print("\ncheck_links: interrupted", file=sys.stderr)
        return 130
    return 2


def _parse(argv: Sequence[str] | None) -> argparse.Namespace:
    parser = _Parser(prog="check_links", description="Check every http(s) link of data and prose.")
    add = parser.add_argument
    add("--root", type=Path, default=ROOT, help="the project to check (default: this one)")
    add("--list", action="store_true", help="print the links with file and line, and ask for none")
    add("--only", metavar="PATTERN", help="only links that this regular expression is found in")
    add("--json", action="store_true", help="print the result as JSON")
    text = "seconds to wait for a host (20)"
    add("--timeout", type=_positive, default=20.0, metavar="S", help=text)
    add("--jobs", type=_count, default=16, metavar="N", help="requests at once (16)")
    add("--per-host", type=_count, default=2, metavar="N", help="requests at once to one host (2)")
    text = "seconds between requests to one host (0.5)"
    add("--delay", type=_from_zero, default=0.5, metavar="S", help=text)
    text = "how long to believe a good link (7)"
    add("--max-age", type=_from_zero, default=7.0, metavar="DAYS", help=text)
    text = f"write what fails, with archived copies, to {STATUS}"
    add("--write-status", action="store_true", help=text)
    add("--no-cache", action="store_true", help="neither read nor write .cache/links.json")
    text = "use the environment's proxy; it looks names up itself, so its own rules must hold"
    add("--allow-proxy", action="store_true", help=text)
    return parser.parse_args(argv)


def _from_zero(text: str) -> float:
    number = float(text)
    if not (math.isfinite(number) and number >= 0):
        raise argparse.ArgumentTypeError(f"found {text}, expected a number from 0 up")
    return number


def _positive(text: str) -> float:
    number = _from_zero(text)
    if number == 0:
        raise argparse.ArgumentTypeError(f"found {text}, expected a number above 0")
    return number


def _count(text: str) -> int:
    count = int(text)
    if not 1 <= count <= 256:
        raise argparse.ArgumentTypeError(f"found {text}, expected a whole number from 1 to 256")
    return count


def _run(options: argparse.Namespace, guard: Guard, clock: Clock) -> int:
    if not options.root.is_dir():
        raise UsageError(f"{options.root} is not a folder")
    links = _select(collect(options.root), options.only)
    if options.list:
        _print_list(links, options.json)
        return 0
    entries = exceptions.load(options.root / EXCEPTIONS, EXCEPTIONS)
    places = by_address(links)
    cache = _cache(options)
    cached = _cached_results(places, cache, clock.time())
    open_urls = [url for url in places if url not in cached]
    transport = link_transport(guard, _proxies(options.allow_proxy) if open_urls else None)
    if not transport.proxies and (tried := _hosts_without_network(open_urls, guard)):
        text = f"no network: none of {tried} hosts resolves, {len(open_urls)} links not checked"
        print(f"check_links: {text}", file=sys.stderr)
        return 1
    results = cached | _check(open_urls, transport, options, clock, cache)
    results_by_place = {url: results[url] for url in places}
    today = datetime.date.fromtimestamp(clock.time())
    verdict = exceptions.judge(results_by_place, entries, whole=not options.only, today=today)
    if options.write_status:
        _write_status(options, results_by_place, guard, clock)
    outcome = report.Report(places, results, verdict, EXCEPTIONS)
    write = report.as_json if options.json else report.as_text
    sys.stdout.write(write(outcome))
    return 1 if outcome.problems else 0


def _cached_results(urls: Iterable[str], cache: Cache, now: float) -> dict[str, Result]:
    """What an earlier run found out about these links, as far as it is still believed."""
    results = {url: cache.get(url, now) for url in urls}
    return {url: result for url, result in results.items() if result is not None}


def _write_status(
    options: argparse.Namespace, results: dict[str, Result], guard: Guard, clock: Clock
) -> None:
    """Write the rows of links that fail.

    An archive that cannot be asked costs a line of output, not the run.
    """
    path = options.root / STATUS
    try:
        before = linkstatus.read_link_statuses(path)
    except DataError as error:
        raise UsageError(str(error)) from None
    day = datetime.date.fromtimestamp(clock.time()).isoformat()
    rows = status.updated(before, results, day, whole=not options.only)
    status.write(path, rows)  # what was found out is kept, whatever becomes of the archive
    fetcher = Fetcher(guard, options.timeout, pause_s=1.0, sleep=clock.sleep)
    rows, faults = status.with_archives(rows, fetcher)
    for fault in faults:
        line = report.printable(f"check_links: no archived copy looked up: {fault}")
        print(line, file=sys.stderr)
    status.write(path, rows)


def _cache(options: argparse.Namespace) -> Cache:
    path = None if options.no_cache else options.root / ".cache" / "links.json"
    cache = Cache(path, DEFAULT_AGES_S | {"ok": options.max_age * DAY_S})
    cache.load()
    return cache


def _select(links: list[Link], pattern: str | None) -> list[Link]:
    if pattern is None:
        return links
    try:
        only = re.compile(pattern)
    except re.error as error:
        raise UsageError(f"--only {pattern}: not a regular expression: {error}") from None
    chosen = [link for link in links if only.search(link.url)]
    if not chosen:
        raise UsageError(f"--only {pattern}: none of {len(links)} links matches")
    return chosen


def _print_list(links: list[Link], as_json: bool) -> None:
    if as_json:
        print(json.dumps([asdict(link) for link in links], indent=1))
        return
    for link in links:
        print(report.printable(f"{link.file}:{link.line}: {link.url}"))


def _proxies(allowed: bool) -> dict[str, str]:
    proxies = environment_proxies()
    if proxies and not allowed:
        raise UsageError(
            "the environment names a proxy, through which the address guard cannot pin addresses;"
            " unset it, or pass --allow-proxy to use it all the same"
        )
    for scheme, address in proxies.items():
        kind, has_kind, _ = address.partition("://")
        if has_kind and kind.lower() not in STANDARD_PORTS:
            raise UsageError(
                f"{scheme}_proxy names a proxy of kind {kind!r}, expected one of http or https;"
                " set it to one, or unset it"
            )
    return proxies


def _hosts_without_network(urls: list[str], guard: Guard) -> int:
    """How many hosts were tried, if not one of them resolves; else (or with too few hosts) 0."""
    links_of_host: Counter[str] = Counter()
    for url in urls:
        try:
            links_of_host[guard.check_form(url)[0]] += 1
        except Refused:
            continue
    hosts = [host for host, _ in links_of_host.most_common(_MOST_HOSTS_TRIED)]
    if len(hosts) < _FEWEST_HOSTS_FOR_NO_NETWORK:
        return 0
    with ThreadPoolExecutor(max_workers=len(hosts)) as pool:
        resolved = pool.map(lambda host: _resolves(host, guard), hosts)
        return 0 if any(resolved) else len(hosts)


def _resolves(host: str, guard: Guard) -> bool:
    try:
        guard.addresses(host, 443)
    except Unresolved:
        return False
    except Refused:
        pass
    return True


def _check(
    urls: list[str], transport: Transport, options: argparse.Namespace, clock: Clock, cache: Cache
) -> dict[str, Result]:
    """Ask for the links; what was found out is kept as it comes, in case the run is killed."""
    limits = Limits(options.jobs, options.per_host, options.delay)
    prober = Prober(transport, HostLimiter(limits, clock), Policy(timeout_s=options.timeout), clock)
    progress = report.Progress(len(urls))
    results: dict[str, Result] = {}

    saving = threading.Lock()

    def check_one(url: str) -> None:
        results[url] = prober.probe(url)
        progress.add(results[url])
        if len(results) % _SAVED_EVERY == 0:
            with saving:
                cache.put(list(results.values()), clock.time())
                cache.save(clock.time())

    try:
        run_in_lanes(urls, check_one, limits)
    finally:
        cache.put(list(results.values()), clock.time())
        cache.save(clock.time())
    return results


if __name__ == "__main__":
    sys.exit(main())
