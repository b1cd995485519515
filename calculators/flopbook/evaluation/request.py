"""What is asked of a calculator: its options, the chip and the model that they name."""

from __future__ import annotations

import functools
import re
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from flopbook.errors import FlopbookError, UnknownName, shorten
from flopbook.formulas.declaration import Formula, Input
from flopbook.formulas.input_bounds import check_input
from flopbook.quantities.choices import choice
from flopbook.quantities.dtypes import (
    ASKED,
    OPTIONS,
    QUANTISED,
    SPELLINGS,
    WIDTHS,
    Formats,
    format_options,
    formats,
)
from flopbook.quantities.units import UnitError, is_bare, one_way, parse_quantity

if TYPE_CHECKING:
    from flopbook.architectures.shape import Shape
    from flopbook.formulas.omissions import Noted
    from flopbook.hardware.chip import Chip

# A rate typed without a unit and below this was meant in a larger unit, not in FLOP/s or byte/s.
SLOWEST_BARE = 1e6
# No chip has less memory, in bytes; written bare it was meant in GB.
SMALLEST_MEMORY = 1e6
# Below so many byte/s, written bare, TB/s is the likelier unit: memories have a few of them.
MOST_BARE_TERABYTES = 10
# What a chip gives of its links, one way; an amount that is typed may say "both ways".
LINKS = ("link_bandwidth", "scaleup_bandwidth", "scaleout_bandwidth", "known_beyond")
_ONE_NUMBER = re.compile(r"\d{1,3}(,\d{3})+(\.\d+)?|\d{1,3},\d+")
_PRODUCT = re.compile(r"([1-9]\d{0,8}) ?[x*] ?([1-9]\d{0,8})")
PRICE_FROM = "price_from"
CHIPS = "chips"
SPARSITIES = ("dense", "2:4", "4:1", "unstated")
# The options that are one of several words, with their words.
_SPARSE = "for the sparse peak of NVIDIA and AMD write 2:4"
WORDS = {"dtype": tuple(WIDTHS), "sparsity": SPARSITIES} | dict.fromkeys(OPTIONS, tuple(WIDTHS))


class Request:
    """What is asked, and what is learnt on the way to an answer.

    Raises FlopbookError for an option that the calculator does not take or cannot read.
    """

    def __init__(self, formula: Formula, options: Mapping[str, Any]) -> None:
        accepted = option_names(formula)
        for option in options:
            if option not in accepted:
                raise UnknownName(f"option of {formula.id}", option, accepted)
        self.formula, self.options = formula, _given_options(options)
        # Now, not at the first look-up: an unknown chip is a mistake even where nothing needs it.
        self.chip = self._named_chip()
        self.model = self._named_model()
        self._check_price()
        self.notes: list[str] = []
        self.link_notes: list[str] = []  # of these, what concerns messages between chips alone
        self.omitted: dict[str, Noted] = {}

    @property
    def dtype(self) -> str:
        """The number format that was asked for; `formats` has what it means for each tensor."""
        return str(self.options.get("dtype") or "bf16")

    @functools.cached_property
    def formats(self) -> Formats:
        """The number format of each tensor: by the rule of `dtype`, unless one was given."""
        return formats(self.dtype, {**self.stored_formats, **self.options})

    @functools.cached_property
    def stored_formats(self) -> dict[str, str]:
        """Formats of a checkpoint that its file names, by option: of its weights, and of products.

        They hold where a model is served, and `dtype` goes before them.
        """
        tensors = {spec.dtype for spec in self.formula.inputs.values()}
        if self.model is None or "dtype" in self.options or not {"weight", "kv"} <= tensors:
            return {}
        stored = self.model.size("weight_dtype")
        if stored is None:
            return {}
        return {"weight_dtype": stored, "compute_dtype": formats(stored, {}).compute}

    def format_of(self, tensor: str) -> str:
        """The format that fills an input; that of `dtype` itself where it names no tensor."""
        return self.dtype if tensor in ("", ASKED) else str(getattr(self.formats, tensor))

    @functools.cached_property
    def applies_rule(self) -> bool:
        """Whether the peak is that of what multiplies, and not of the format asked for."""
        return any(spec.chip == "peak" and spec.dtype for spec in self.formula.inputs.values())

    @functools.cached_property
    def sized_model(self) -> Shape | None:
        """The model with the sizes that were typed in place of its own: each input asks for it.

        Raises FlopbookError for a size that its input refuses.
        """
        return self.model and self.model.having(self._typed_sizes())

    def _typed_sizes(self) -> dict[str, Any]:
        """Sizes of the shape that were typed, by the names of the fields that they replace."""
        sizes = {}
        for name, spec in self.formula.inputs.items():
            if name not in self.options or not spec.model:
                continue
            size = read_input(name, spec, self.options[name])
            check_input(flag(name), spec, size)
            sizes[spec.model] = size
        return sizes

    @property
    def peak_dtype(self) -> str:
        """The format of the peak."""
        return self.formats.compute if self.applies_rule else self.dtype

    @property
    def sparsity(self) -> str:
        """The sparsity of the peak."""
        return str(self.options.get("sparsity") or "dense")

    def _named_chip(self) -> Chip | None:
        if "chip" not in self.options:
            return None
        from flopbook.hardware.rooflines import chips_of  # reads data; plain numbers do without

        return chips_of(self.formula, str(self.options["chip"]))

    def _check_price(self) -> None:
        """A list price is that of a chip, and only one price can hold."""
        if PRICE_FROM not in self.options:
            return
        if "price" in self.options:
            raise FlopbookError("give --price or --price-from, not both")
        if self.chip is None:
            raise FlopbookError("--price-from needs --chip: a list price is that of a chip")

    def _named_model(self) -> Shape | None:
        """The model that was named, or the one that a configuration file describes."""
        if "config" not in self.options and "model" not in self.options:
            return None
        from flopbook.architectures.shape import Shape, shape

        if "config" not in self.options:
            return shape(str(self.options["model"]))
        if "model" in self.options:
            raise FlopbookError("give --model or --config, not both")
        # Reads JSON, which few commands need.
        from flopbook.architectures.huggingface import read_config

        config = self.options["config"]
        source = config if isinstance(config, Mapping) else Path(str(config))
        return Shape(read_config(source))


def takes(formula: Formula) -> tuple[str, ...]:
    """The options a calculator takes besides its own inputs: chip, dtype, sparsity, model."""
    specs = formula.inputs.values()
    needs_rate = any(spec.chip in ("peak", "roofs") for spec in specs)
    is_taken = {
        "chip": any(spec.chip for spec in specs),
        "dtype": needs_rate or any(spec.dtype for spec in specs),
        "sparsity": needs_rate,
        "model": any(spec.model for spec in specs),
    }
    return tuple(option for option, taken in is_taken.items() if taken)


def tensors(formula: Formula) -> tuple[str, ...]:
    """The options that choose the number formats of single tensors, such as `kv_dtype`."""
    return format_options({spec.dtype for spec in formula.inputs.values()})


def reads(formula: Formula) -> tuple[str, ...]:
    """The options that name a file: a configuration stands wherever a model does."""
    return ("config",) if "model" in takes(formula) else ()


def asks_prices(formula: Formula) -> tuple[str, ...]:
    """The option that names a cloud, whose list price then stands for `price`."""
    return (PRICE_FROM,) if "price" in formula.inputs and "chip" in takes(formula) else ()


def divides_chips(formula: Formula) -> tuple[str, ...]:
    """The option `chips`, where a calculator has degrees and no such input of its own."""
    return (CHIPS,) if formula.divides and CHIPS not in formula.inputs else ()


def option_names(formula: Formula) -> tuple[str, ...]:
    """Everything that may be given to a calculator by name."""
    lookups = (*takes(formula), *tensors(formula), *reads(formula), *asks_prices(formula))
    return (*lookups, *divides_chips(formula), *formula.inputs)


def _given_options(options: Mapping[str, Any]) -> dict[str, Any]:
    """The options that have a value, words as the package spells them. Raises FlopbookError."""
    options_set = {name: value for name, value in options.items() if value is not None}
    for name, value in options_set.items():
        if isinstance(value, str) and not value.strip():
            raise FlopbookError(f"{flag(name)} is empty")
    for name, words in WORDS.items():
        if name not in options_set:
            continue
        options_set[name] = choice(options_set[name], words)
        if name != "sparsity":
            plain = str(options_set[name]).strip().lower()
            options_set[name] = SPELLINGS.get(plain, options_set[name])
        if options_set[name] not in words:
            nearest = QUANTISED.get(str(options_set[name]).strip().lower(), "")
            advice = _SPARSE if name == "sparsity" else nearest and f"write {nearest}"
            raise UnknownName(name.replace("_", "-"), str(options_set[name]), words, advice)
    return options_set


def read_input(name: str, spec: Input, value: Any) -> Any:
    """One value of an input as `calculate` reads it, before its bounds are checked.

    Raises FlopbookError.
    """
    if not (spec.is_number and isinstance(value, str)):
        return choice(value, spec.choices)
    ways = 1.0  # share of the amount that goes one way
    if spec.chip in LINKS:  # data sheets print both ways together; a calculator takes one
        value, ways = one_way(value)
    try:
        amount = parse_quantity(value, spec.unit) * ways
    except UnitError as error:
        if _is_list(value, spec):
            raise FlopbookError(
                f"{flag(name)} takes one value; for several write --sweep {name}={shorten(value)}"
            ) from None
        product = _PRODUCT.fullmatch(value.strip())
        if not (spec.whole and product):
            raise FlopbookError(f"{flag(name)}: {error}") from None
        whole = int(product[1]) * int(product[2])  # 2x8, servers times their chips
        raise FlopbookError(
            f"{flag(name)}: '{shorten(value)}' is a product; write {whole}"
        ) from None
    # A number from Python is in SI units; only a text can have been meant otherwise.
    likely = _likely_unit(spec, amount)
    if likely and amount > 0 and is_bare(value):
        text = shorten(value)
        raise FlopbookError(f"{flag(name)}: '{text}' has no unit; write for example {text}{likely}")
    return amount


def _is_list(value: str, spec: Input) -> bool:
    """Whether a text is several amounts: 8k,128k, but neither 0,4 nor 15,000."""
    amounts = value.strip().split(",")
    if len(amounts) < 2 or _ONE_NUMBER.fullmatch(value.strip()):
        return False
    try:
        return all(parse_quantity(amount, spec.unit) >= 0 for amount in amounts)
    except UnitError:
        return False


def _likely_unit(spec: Input, amount: float) -> str:
    """The unit that a bare number was meant in, where nobody thinks in the SI unit; else empty."""
    unit = spec.unit
    if spec.chip == "memory" and amount < SMALLEST_MEMORY:
        return "GB"
    if unit in ("FLOP/s", "byte/s") and amount >= SLOWEST_BARE:
        return ""
    if unit == "byte/s":
        return "TB/s" if amount < MOST_BARE_TERABYTES else "GB/s"
    return {"USD/s": "USD/h", "kg/J": "g/kWh", "FLOP/s": "TFLOP/s"}.get(unit, "")


def flag(name: str) -> str:
    """An option as it is written on the command line."""
    return "--" + name.replace("_", "-")
