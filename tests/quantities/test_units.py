"""Units and quantities: laws first, then what standards say, then what people mistype."""

from __future__ import annotations

import math
from itertools import pairwise

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from flopbook.quantities.units import (
    UnitError,
    format_quantity,
    is_bare,
    one_way,
    other_units,
    parse_quantity,
    to_si,
    unit,
)
from tests.support.cases import every

AMOUNTS = st.floats(1e-6, 1e15)
# unit as written -> SI unit
WRITTEN = {
    "B": "byte",
    "GB": "byte",
    "GiB": "byte",
    "TB/s": "byte/s",
    "Gbit/s": "byte/s",
    "Gb/s": "byte/s",
    "Tbps": "byte/s",
    "TFLOP/s": "FLOP/s",
    "POP/s": "OP/s",
    "W": "W",
    "kW": "W",
    "ms": "s",
    "days": "s",
    "tokens": "token",
    "param": "param",
    "chips": "chip",
    "FLOP": "FLOP",
    "percent": "1",
    "MHz": "Hz",
    "mm2": "m2",
    "USD": "USD",
    "FLOP/byte": "FLOP/byte",
}
UNITS = st.sampled_from(sorted(WRITTEN.items()))
SI = st.sampled_from(
    ["FLOP/s", "byte", "byte/s", "s", "token", "param", "chip", "1", "W", "FLOP", "byte/param"]
)
PIECES = st.sampled_from(
    [*"0123456789.eE+-_kMGTPBs %,/\n٣²", "inf", "nan", "GiB", "FLOP", "bit/s", "\x1b[0m"]
)


def refusal(text: str, expected: str) -> str:
    """The message of a refusal, one printable line."""
    with pytest.raises(UnitError) as caught:
        parse_quantity(text, expected)
    assert str(caught.value).isprintable() and len(str(caught.value)) < 400
    return str(caught.value)


@given(AMOUNTS, UNITS, st.sampled_from(["", " ", "  "]))
def test_a_quantity_is_its_number_times_its_unit(
    value: float, names: tuple[str, str], gap: str
) -> None:
    written, si = names
    assert (
        parse_quantity(f"{value!r}{gap}{written}", si)
        == to_si(value, written)
        == value * unit(written).factor
    )
    assert unit(written).si == si


@given(AMOUNTS, UNITS)
def test_si_text_comes_back(value: float, names: tuple[str, str]) -> None:
    """What is printed in the SI unit reads back as the same number."""
    si_value = to_si(value, names[0])
    assert parse_quantity(repr(si_value), names[1]) == si_value


@given(AMOUNTS, AMOUNTS, UNITS)
def test_more_is_more(one: float, other: float, names: tuple[str, str]) -> None:
    low, high = sorted((one, other))
    assert parse_quantity(f"{low!r}{names[0]}", names[1]) <= parse_quantity(
        f"{high!r}{names[0]}", names[1]
    )


@given(AMOUNTS, st.sampled_from(["B", "FLOP", "bit", "OP", "B/s", "FLOP/s"]))
def test_each_prefix_is_a_thousand_times_the_one_before(value: float, base: str) -> None:
    worth = [to_si(value, prefix + base) for prefix in ("", "k", "M", "G", "T", "P", "E")]
    assert all(math.isclose(b, 1000 * a) for a, b in pairwise(worth))


@given(st.lists(PIECES, max_size=14).map("".join) | st.text(max_size=40), SI)
def test_garbage_is_a_finite_number_or_a_unit_error(text: str, expected: str) -> None:
    """The parser raises nothing but its own error, and never returns infinity or not-a-number."""
    try:
        value = parse_quantity(text, expected)
    except UnitError as error:
        assert str(error).isprintable()
    else:
        assert math.isfinite(value)


@given(st.text(max_size=30))
def test_garbage_names_are_units_or_a_unit_error(name: str) -> None:
    try:
        assert unit(name).factor > 0
    except UnitError as error:
        assert str(error).isprintable()


@given(AMOUNTS, st.sampled_from(["byte", "byte/s", "FLOP/s", "FLOP", "W", "s"]))
def test_what_is_shown_is_within_its_digits(value: float, si: str) -> None:
    """Four significant digits: the printed text reads back within five in ten thousand."""
    shown = format_quantity(value, si)
    number, _, name = shown.replace(",", "").partition(" ")
    assume("e" not in name or name.startswith(("min", "day", "year")))
    assert math.isclose(parse_quantity(f"{number} {name}", si), value, rel_tol=6e-4)


@every(
    "text, expected, value",
    [
        ("80GB", "byte", 80e9),
        ("80 GiB", "byte", 80 * 2**30),
        ("3.35TB/s", "byte/s", 3.35e12),
        ("400Gbit/s", "byte/s", 50e9),
        ("400Gbps", "byte/s", 50e9),
        ("400Gb/s", "byte/s", 50e9),
        ("400 Gb/s", "byte/s", 50e9),
        ("1.6Tb/s", "byte/s", 200e9),
        ("900GBps", "byte/s", 900e9),
        ("989TFLOP/s", "FLOP/s", 989e12),
        ("2POP/s", "FLOP/s", 2e15),
        ("15T", "token", 15e12),
        ("70B", "param", 70e9),
        ("1.5e13", "token", 1.5e13),
        ("16M tokens", "token", 16e6),
        ("1_000", "token", 1000),
        (" 5 ", "s", 5),
        ("2h", "s", 7200),
        ("1year", "s", 365 * 86400),
        ("20ms", "s", 0.02),
        ("50%", "1", 0.5),
        ("2", "byte/param", 2),
        ("1kWh", "J", 3.6e6),
        ("8k", "1", 8000),
        ("28K", "1", 28e3),
        ("128Ki", "1", 131072),
        ("128k", "token", 128000),
        ("128Ki", "token", 131072),
        ("128 Ki tokens", "token", 131072),
        ("4Mi tokens", "token", 4 * 2**20),
        ("1M", "1", 1e6),
        ("-5GB", "byte", -5e9),
        ("0", "chip", 0),
    ],
)
def test_quantities_as_people_write_them(text: str, expected: str, value: float) -> None:
    assert parse_quantity(text, expected) == pytest.approx(value, rel=1e-12)


@pytest.mark.parametrize(
    ("name", "factor"), [("kiB", None), ("KiB", 2**10), ("MiB", 2**20), ("GiB", 2**30)]
)
def test_binary_prefixes(name: str, factor: int | None) -> None:
    """IEC 80000-13: one kibibyte is 1,024 bytes and its prefix is written Ki.

    Decimal prefixes stay decimal.
    """
    if factor is None:
        with pytest.raises(UnitError, match="did you mean"):
            unit(name)
    else:
        assert unit(name).factor == factor


@every(
    "text, expected, says",
    [
        ("80 bananas", "byte", "unknown unit 'bananas'"),
        ("80GBs", "byte", "did you mean"),
        ("80GB", "byte/s", "is in byte, expected byte/s; write 80GB/s"),
        ("400Gbit", "byte/s", "is in byte, expected byte/s; write 400Gbit/s"),
        ("80Gb/s", "byte", "is in byte/s, expected byte; write for example 80GB or 80GiB"),
        ("80Gb", "byte", "unknown unit 'Gb'; write 80GB (bytes) or 80Gbit (bits)"),
        ("400 Gb", "byte/s", "unknown unit 'Gb'; write 400Gbit/s"),
        ("400G", "byte/s", "may be bytes or bits; write 400GB/s (bytes) or 400Gb/s (bits)"),
        ("400gbps", "byte/s", "did you mean Gbps, GBps?"),
        ("400gb/s", "byte/s", "did you mean GB/s, Gb/s?"),
        ("128ki", "token", "has the suffix 'ki'; write 128Ki"),
        ("2mi tokens", "token", "write 2Mi tokens"),
        ("8 chips", "token", "is in chip, expected token"),
        ("5s", "W", "is in s, expected W"),
        ("100TFLOP", "FLOP/s", "is in FLOP, expected FLOP/s; write 100TFLOP/s"),
        ("1,000", "token", "has a comma"),
        ("1e999", "token", "too large"),
        ("9" * 400, "byte", "too large"),
        ("", "byte", "is not a quantity; write a number and a unit such as 80GB"),
        ("GB", "byte", "is not a quantity"),
        ("inf", "byte", "is not a quantity"),
        ("nan", "s", "is not a quantity"),
        ("nan", "1", "'nan' is not a quantity; write a plain number"),
        ("989TFLOPS", "FLOP/s", "unknown unit 'TFLOPS'; did you mean TFLOP/s?"),
        ("3.35tb/s", "byte/s", "did you mean TB/s, Tb/s?"),
        ("80gib", "byte", "did you mean GiB?"),
        ("70b", "param", "write 70B"),
        ("15 t tokens", "token", "write 15 T tokens"),
        ("8B", "1", "is in byte, expected 1"),
        ("0x10", "byte", "unknown unit 'x10'"),
        ("5m", "s", "unknown unit 'm'"),
        ("1 B\n2 B", "byte", "unknown unit"),
        ("<script>", "byte", "is not a quantity"),
        ("1\x1b[31m", "byte", "\\x1b"),
    ],
)
def test_what_does_not_fit_says_what_would(text: str, expected: str, says: str) -> None:
    assert says in refusal(text, expected)


def test_a_long_text_is_cut_in_the_message() -> None:
    assert len(refusal("x" * 100_000, "byte")) < 200
    assert len(refusal("1" + "x" * 100_000, "byte")) < 200


@pytest.mark.parametrize(
    ("value", "name", "shown"),
    [
        (3.35e12, "byte/s", "3.35 TB/s"),
        (989.4e12, "FLOP/s", "989.4 TFLOP/s"),
        (295.34, "token", "295.3 tokens"),
        (1, "chip", "1 chip"),
        (0, "byte", "0 bytes"),
        (1, "byte", "1 byte"),
        (590, "byte", "590 bytes"),
        (590, "byte/token", "590 byte/token"),
        (15e12, "token", "15 trillion tokens"),
        (700, "W", "700 W"),
        (3.15e23, "FLOP", "3.15e23 FLOP"),
        (0.25, "1", "0.25"),
        (86400, "s", "1 day"),
        (0, "s", "0 s"),
        (172800, "s", "2 days"),
        (2e-9, "s", "2 ns"),
        (-90, "s", "-90 s"),
        (None, "s", "not available"),
        (math.inf, "chip", "unlimited"),
        (-math.inf, "chip", "-unlimited"),
        (math.nan, "1", "undefined"),
        (999_999.6, "1", "1,000,000"),
        (9999.9, "1", "10,000"),
        (1e-5, "1", "1e-5"),
        (-3e9, "byte", "-3 GB"),
    ],
)
def test_shown_values(value: float | None, name: str, shown: str) -> None:
    assert format_quantity(value, name) == shown


@pytest.mark.parametrize(
    "expected", ["FLOP/s", "byte/s", "byte", "FLOP", "token", "param", "s", "W"]
)
def test_a_hint_names_units_that_fit(expected: str) -> None:
    """What is offered for a misspelt unit is accepted when it is written."""
    for wrong in ("TFLOPS", "gbs", "tb", "tokns", "parms", "sec", "watt"):
        message = refusal(f"5{wrong}", expected)
        for name in message.partition("did you mean ")[2].partition("?")[0].split(", "):
            assert not name or parse_quantity(f"5{name}", expected) > 0


@given(AMOUNTS, UNITS)
def test_a_number_is_bare_without_its_unit(value: float, names: tuple[str, str]) -> None:
    assert is_bare(f" {value!r} ") and not is_bare(f"{value!r}{names[0]}") and not is_bare(names[0])


def test_prices_masses_and_hours_of_chips() -> None:
    """Dollars for an hour and grams for a kilowatt-hour are rates in SI.

    Days and chip hours are written in words.
    """
    assert parse_quantity("2USD/h", "USD/s") == pytest.approx(2 / 3600)
    assert parse_quantity("385g/kWh", "kg/J") == pytest.approx(0.385 / 3.6e6)
    with pytest.raises(UnitError, match="2USD/h"):
        parse_quantity("2kg", "USD/s")
    assert (
        format_quantity(2 / 3600, "USD/s") == "2 USD/h"
        and format_quantity(0.385 / 3.6e6, "kg/J") == "385 g/kWh"
    )
    assert format_quantity(1.8e-3 / 3.6e6, "m3/J") == "1.8 L/kWh"
    assert format_quantity(20.8, "day") == "20.8 days" and format_quantity(1, "day") == "1 day"
    assert format_quantity(1.022e6, "chip-hour") == "1.022 million chip-hours"
    assert format_quantity(173e3, "kg") == "173,000 kg" and format_quantity(2.0, "USD") == "2 USD"
    assert format_quantity(2.044e6, "USD") == "2.044 million USD"


@pytest.mark.parametrize(
    ("text", "amount", "part"),
    [
        ("900GB/s both ways", "900GB/s", 0.5),
        ("900 GB/s both", "900 GB/s", 0.5),
        (" 450GB/s one way ", "450GB/s", 1.0),
        ("450GB/s one-way", "450GB/s", 1.0),
        ("450GB/s", "450GB/s", 1.0),
        ("450GB/sboth", "450GB/sboth", 1.0),
        ("both", "both", 1.0),
        ("", "", 1.0),
    ],
)
def test_the_words_for_a_direction_are_taken_off(text: str, amount: str, part: float) -> None:
    assert one_way(text) == (amount, part)


@given(st.floats(1024, 1e17))
def test_binary_and_decimal_say_the_same_amount(value: float) -> None:
    """Four digits each, and both read back to the amount; rates keep their decimal prefix."""
    shown = format_quantity(value, "byte", binary=True)
    assert shown.endswith("iB") and parse_quantity(shown.replace(",", ""), "byte") == pytest.approx(
        value, rel=5e-4
    )
    assert format_quantity(value, "byte/s", binary=True) == format_quantity(value, "byte/s")


def test_small_and_endless_amounts_of_bytes() -> None:
    assert [format_quantity(n, "byte", binary=True) for n in (0, 512, 1024, math.inf)] == [
        "0 bytes",
        "512 bytes",
        "1 KiB",
        "unlimited",
    ]


@pytest.mark.parametrize(
    ("value", "name", "shown"),
    [
        (1.6164e12, "J", "449 MWh"),
        (3.6e6, "J", "1 kWh"),
        (3.5e6, "J", ""),
        (173e3, "kg", "173 t"),
        (999.0, "kg", ""),
        (59.9, "s", ""),
        (90, "s", "1.5 min"),
        (9000, "s", "9,000 s"),
        (86400, "s", "24 h; 86,400 s"),
        (365 * 86400, "s", "365 days; 8,760 h"),
        (math.inf, "s", ""),
        (math.nan, "J", ""),
        (1e12, "byte", ""),
    ],
)
def test_the_units_that_people_use_beside(value: float, name: str, shown: str) -> None:
    assert other_units(value, name) == shown


@given(st.floats(60, 1e12))
def test_other_units_say_the_same_time(value: float) -> None:
    for text in other_units(value, "s").split("; "):
        assert parse_quantity(text.replace(",", ""), "s") == pytest.approx(value, rel=6e-4)


@pytest.mark.parametrize("prefix", ["", "k", "M", "G", "T"])
@pytest.mark.parametrize("rate", ["bit/s", "b/s", "bps"])
def test_a_small_b_is_a_bit_in_every_spelling_of_a_rate(prefix: str, rate: str) -> None:
    """A network of 400 Gb/s moves 50 GB/s: read as bytes it would be eight times too fast."""
    assert unit(f"{prefix}{rate}").factor * 8 == unit(f"{prefix}B/s").factor
    assert unit(f"{prefix}{rate}").si == "byte/s"


@given(
    st.floats(0.5, 1000),
    st.sampled_from(["80Gb", "80GB", "400G", "400gbps", "400Gbit", "989TFLOP", "128ki", "70b"]),
    st.sampled_from(["byte", "byte/s", "FLOP/s", "token", "param"]),
)
def test_what_a_message_says_to_write_is_read(number: float, shape: str, expected: str) -> None:
    """Each proposal with the number that was typed is accepted, and is a multiple of it."""
    letters = shape.lstrip("0123456789")
    typed = f"{number!r}{letters}"
    try:
        parse_quantity(typed, expected)
    except UnitError as error:
        advice = str(error).rpartition("write ")[2]
    else:
        return
    for proposal in advice.replace(" (bytes)", "").replace(" (bits)", "").split(" or "):
        if proposal.startswith(repr(number)):
            value = parse_quantity(proposal, expected)
            assert value >= number / 8
