"""What a server keeps of its two promises as requests come faster: simulated step by step."""

from __future__ import annotations

import functools
import heapq
import math
import random
from collections import deque
from typing import NamedTuple

from flopbook.evaluation.calculator import calculate
from flopbook.quantities.units import format_quantity
from scripts.website.figures.chart import Chart
from scripts.website.figures.drawing import Figure
from scripts.website.figures.plotted import ChartAxis

PROMPT, ANSWER = 4096, 512  # tokens
# A step meets long answers more often: at exponential lengths a whole mean answer is behind one.
CONTEXT = PROMPT + ANSWER
ITERATION = 30e-3  # s that an iteration may take
FIRST = 2.0  # s within which the first token is promised
# One request in a hundred of 1,500 is 15 of them, and most of these come from one bad minute.
REQUESTS = 10_000
RATES = (0.5, 1.0, 1.5, 1.8, 2.0, 2.2, 2.3, 2.4)  # requests a second
_SERVER = {"model": "llama-3-70b", "chip": "h100-sxm", "tp": 8}


class Costs(NamedTuple):
    """Seconds of a step without sequences, of each sequence in it, and of a token of a prompt."""

    step: float
    sequence: float
    prompt_token: float


class KeptPromises(NamedTuple):
    """At one rate: the first token and the time per token that 99 of 100 requests have (s)."""

    rate: float
    first: float
    pace: float


@functools.cache
def costs() -> Costs:
    """Of the server of the chapter, as its calculators expect them of a tuned engine."""
    few, many = (
        calculate("serving", seq=CONTEXT, batch=batch, **_SERVER)["likely_seconds"]
        for batch in (1, 64)
    )
    each = (many - few) / 63
    prompt = calculate("prefill", seq=PROMPT, **_SERVER)["likely_seconds"]
    return Costs(few - each, each, prompt / PROMPT)


def simulated(rate: float, requests: int = REQUESTS) -> KeptPromises:
    """Requests that arrive at random, with answers of random length, and chunks of prompts.

    In each iteration the sequences of the batch get a token; the time that is left of ITERATION
    reads prompts in order of arrival.
    """
    cost, chance = costs(), random.Random(0)
    arrivals, now = deque[float](), 0.0
    for _ in range(requests):
        now += chance.expovariate(rate)
        arrivals.append(now)
    lengths = [2 + int(chance.expovariate(1 / (ANSWER - 2))) for _ in range(requests)]
    firsts: list[float] = []
    paces: list[float] = []
    ends: list[tuple[int, float, int]] = []  # last iteration, time of the first token, length
    now, iteration, unread = 0.0, 0, float(PROMPT)
    while arrivals or ends:
        if not ends and arrivals[0] > now:
            now = arrivals[0]
        spent = cost.step + cost.sequence * len(ends) if ends else 0.0
        budget, done = max(ITERATION - spent, 0.0) / cost.prompt_token, []
        read_on = bool(arrivals) and arrivals[0] <= now
        while arrivals and arrivals[0] <= now and budget > 0:
            read = min(unread, budget)
            spent, budget, unread = spent + read * cost.prompt_token, budget - read, unread - read
            if unread <= 0:
                done.append(arrivals.popleft())
                unread = float(PROMPT)
        alike = 1 if read_on else _undisturbed(now, iteration, spent, arrivals, ends)
        now, iteration = now + alike * spent, iteration + alike
        while ends and ends[0][0] <= iteration:
            _, first, length = heapq.heappop(ends)
            paces.append((now - first) / (length - 1))
        for arrived in done:
            length = lengths[len(firsts)]
            firsts.append(now - arrived)
            heapq.heappush(ends, (iteration + length - 1, now, length))
    return KeptPromises(rate, _of_a_hundred(firsts), _of_a_hundred(paces))


def _undisturbed(
    now: float,
    iteration: int,
    spent: float,
    arrivals: deque[float],
    ends: list[tuple[int, float, int]],
) -> int:
    """How many iterations run alike: until an answer ends or a request arrives."""
    until = ends[0][0] - iteration
    if arrivals:
        until = min(until, math.ceil((arrivals[0] - now) / spent))
    return max(until, 1)


def _of_a_hundred(times: list[float]) -> float:
    """The time within which 99 of 100 lie."""
    return sorted(times)[int(0.99 * len(times))]


def full() -> float:
    """Rate at which prompts and the steps of its load fill every iteration (requests a second)."""
    cost = costs()
    written = ANSWER * ITERATION * cost.sequence
    return (ITERATION - cost.step) / (ITERATION * cost.prompt_token * PROMPT + written)


@functools.cache
def curve() -> tuple[KeptPromises, ...]:
    """Both times at each rate."""
    return tuple(simulated(rate) for rate in RATES)


def sold() -> float:
    """The last rate at which both promises hold (requests a second)."""
    return max(
        kept.rate for kept in curve() if kept.first <= FIRST and round(kept.pace, 6) <= ITERATION
    )


def figure() -> Figure:
    """Both times over the rate, and what was promised."""
    chart = Chart(
        ChartAxis("requests a second", 0, RATES[-1], "", log=False),
        ChartAxis("time that 99 of 100 requests have", 1e-2, 1e2, "s"),
        (92, 14, 500, 280),
    )
    first = [(kept.rate, kept.first) for kept in curve()]
    pace = [(kept.rate, kept.pace) for kept in curve()]
    shapes = [
        *chart.grid(),
        *chart.lines((("first token", first), ("time per token", pace))),
        chart.level(FIRST, name="promised: first token"),
        chart.level(ITERATION, name="promised: time per token"),
    ]
    for number, points in enumerate((first, pace)):
        for rate, time in points:
            told = f"{format_quantity(time, 's')} at {rate:g} requests a second"
            shapes.append(chart.dot(rate, time, told, f"fb-c{number}"))
    facts = "; ".join(
        f"{kept.rate:g} a second: first token {format_quantity(kept.first, 's')}, "
        f"then {format_quantity(kept.pace, 's')} a token"
        for kept in curve()
    )
    return Figure(
        f"Both promises hold up to {sold():g} requests a second; beyond, the first token breaks "
        "and the pace does not",
        f"Simulated with {REQUESTS:,} requests at each rate. {facts}.",
        f"One server of eight H100 with Llama 3 70B, prompts of {PROMPT:,} tokens, {ANSWER} tokens "
        f"written on average, iterations of {ITERATION * 1e3:g} ms that prompts fill up. Dashed: "
        f"what is promised. From {full():.2g} a second on the queue grows for as long as requests "
        "come, while those who are served get their tokens as before.",
        336,
        tuple(shapes),
        plots=(chart,),
    )
