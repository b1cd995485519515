"""The cheat sheet: one printed page of formulas, chips, number formats and units, all from the code
and the data.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence

from flopbook.errors import FlopbookError
from flopbook.evaluation.calculator import calculate
from flopbook.evaluation.terms import term_of
from flopbook.faces.special_cases import Given, folded, inputs_of, special
from flopbook.formulas import get_formula
from flopbook.hardware.chip import Chip, chip
from flopbook.quantities.number_formats import FORMATS, Format
from flopbook.quantities.units import PREFIXES, format_quantity, unit
from scripts.website.markup import Html, Markdown, front_matter, link, maths, page_text, tag
from scripts.website.pages.accelerators import entry_page
from scripts.website.pages.calculators import calculator_page
from scripts.website.pages.equations import MEANS, POWER, SECTIONS, Shown
from scripts.website.pages.sources import html_link, stylesheet

PAGE = "cheat-sheet.md"
STYLE = "assets/flopbook/sheet.css"
CHIPS = (
    "nvidia/a100-sxm-80gb",
    "nvidia/h100-sxm",
    "nvidia/h200-sxm",
    "nvidia/b200",
    "amd/mi300x",
    "amd/mi355x",
    "google/tpu-v5p",
    "google/tpu-v6e",
    "google/tpu-v7x",
    "aws/trainium2",
)
CHIP_HEADS = (
    *("Chip", "bf16", "fp8", "Memory", "Bandwidth", "Ridge, FLOP/byte", "Scale-up, one way"),
    *("Domain", "Power"),
)
_CACHE: Given = {
    "kv_lora_rank": 0,
    "tied_embeddings": "yes",
    "vocab": 0,
    "qk_rope_head_dim": 0,
    "window_layers": 0,
    "tp": 1,
}
_HEADS = ("values", "grouped", "head", "layer_tokens", "products")
# What a letter counts or belongs to, where the term of the glossary alone would leave that open.
MEANS = {
    "layers": "layers",
    "heads": "attention heads",
    "kv_heads": "key-value heads",
    "chips": "chips",
    "params": "parameters",
    "power": "power of a chip",
    "overhead": "power of its hosts",
    "microbatches": "micro-batches",
    "stages": "stages",
    "virtual": "chunks of each stage",
    "axes": "torus axes",
    "tensor_axes": "axes for tensor parallelism, the others for FSDP",
    "max-params.bytes_per_param": "bytes for a parameter",
    "prefill.peak": "peak of all chips that share the model",
    "prefill.bandwidth": "their memory bandwidth",
    "serving.memory": "their memory",
    "prefill.bytes_per_param": "width of a weight",
    "kv-cache.bytes_per_kv": "width of a cached value",
    "kv-cache.batch": "sequences at once",
    "reliability.chip_mtbf": "time between failures of a chip",
    "draft_tokens": "drafted tokens",
    "draft_time": "time of one, in passes",
}

SECTIONS: dict[str, tuple[Shown, ...]] = {
    "Rooflines": (
        Shown("ridge-point", {"flop_per_byte": "ridge point"}),
        Shown(
            "arithmetic-intensity",
            {
                "flop": "work of a matrix product",
                "bytes": "its bytes",
                "intensity": "intensity",
                "attainable_flop_per_s": "attainable rate",
            },
            {"op": "gemm", "bytes_per_activation": _OPEN, "bytes_per_result": _OPEN},
            ("product", "product_bytes"),
        ),
        Shown(
            "min-batch",
            {"tokens": "minimum batch", "tokens_exact": "with activations"},
            {"bytes_per_activation": _OPEN},
            ("slack",),
        ),
    ),
    "Models and training": (
        Shown(
            "params",
            {
                "attention": "attention",
                "ffn": "gated feed-forward",
                "embedding": "embedding and output",
            },
            _PLAIN,
            ("grouped", "dense", "queries", "keys", "inner", "per_width", "head"),
        ),
        Shown(
            "training-flops",
            {"flop": "rule of six", "attention": "scores beside it; causal: half"},
            {"v_head_dim": 0},
            ("flop_per_token", "head_width", "square"),
        ),
        Shown(
            "training-time",
            {"seconds": "time of a run", "joules": "energy"},
            {"counts": "mfu"},
            ("flop", "rate", "work"),
        ),
        Shown("max-params", {"params": "parameters that fit"}),
    ),
    "Collectives": (
        Shown(
            "collective",
            {
                "bandwidth_seconds": "all-gather, reduce-scatter on a ring",
                "latency_seconds": "if tiny; time is the longer",
            },
            {**_RING, "op": "all-gather"},
            _WIRES,
        ),
        Shown(
            "collective",
            {"bandwidth_seconds": "all-reduce on a ring"},
            {**_RING, "op": "all-reduce"},
            _WIRES,
        ),
        Shown(
            "collective",
            {"bandwidth_seconds": "all-gather at a switch"},
            {**_SWITCH, "op": "all-gather"},
            _WIRES,
        ),
        Shown(
            "collective",
            {"bandwidth_seconds": "all-to-all at a switch"},
            {**_SWITCH, "op": "all-to-all"},
            _WIRES,
        ),
    ),
    "Limits of parallelism": (
        Shown(
            "fsdp-limit",
            {
                "network": "all links of a chip",
                "forward_tokens": "FSDP, data: tokens per chip, at least",
                "pod_tokens": "tokens per pod, at least",
            },
            _DENSE,
            ("unit",),
        ),
        Shown(
            "tp-limit",
            {"forward_ways": "tensor: ways, at most; gated: half more"},
            {"ffn_kind": "plain"},
        ),
        Shown(
            "mixed-limit",
            {
                "intensity": "one link",
                "tokens_per_chip": "both: tokens per chip, at least",
                "best": "best ways of FSDP",
            },
            {**_DENSE, "ffn_kind": "plain"},
            ("width",),
        ),
        Shown(
            "cp-limit",
            {"forward_tokens": "context, ring, causal: tokens, at least"},
            {"method": "ring", "causal": "yes"},
            ("shortest", "moved", "mask", "keys"),
        ),
        Shown(
            "ep-limit",
            {"least_width": "gated expert: width, at least"},
            {"ffn_kind": "gated"},
            ("matrices",),
        ),
    ),
    "Pipelines": (
        Shown(
            "bubble",
            {
                "work": "useful time",
                "idle": "idle time: GPipe, 1F1B",
                "fraction": "bubble",
                "peak_microbatches": "micro-batches held, 1F1B",
            },
            {"schedule": "1f1b"},
            ("back_inputs", "back_weights"),
        ),
        Shown(
            "bubble",
            {"idle": "interleaved"},
            {"schedule": "interleaved"},
            ("back_inputs", "back_weights"),
        ),
    ),
    "Inference": (
        Shown(
            "kv-cache",
            {"bytes_per_token": "KV cache of a token", "bytes": "of all sequences"},
            {**_CACHE, "window": _OPEN},
            _HEADS,
        ),
        Shown(
            "prefill",
            {
                "compute_seconds": "prefill: arithmetic",
                "weight_seconds": "weights read",
                "seconds": "time to first token",
            },
            _CACHE,
            _HEADS,
        ),
        Shown(
            "decode",
            {
                "compute_seconds": "decode: arithmetic",
                "kv_seconds": "cache read",
                "seconds": "a step; attention reads the cache",
            },
            {**_CACHE, **_DENSE, "ep": 1},
            (*_HEADS, "share", "chip_read"),
        ),
        Shown(
            "serving",
            {"batch_fits": "sequences that fit"},
            _CACHE,
            (*_HEADS, "room", "sequence", "shares"),
        ),
        Shown(
            "speculative-decoding",
            {"tokens_per_step": "tokens per pass", "speedup": "speed-up"},
            {},
            ("missed",),
        ),
    ),
}


def sheet_page() -> str:
    """The page: sections of equations in columns, then three tables."""
    words = "The formulas that matter, ten chips, number formats and units on one printed page."
    return "\n".join(
        [
            front_matter("Cheat sheet", words, wide=True),
            "# Cheat sheet\n",
            stylesheet(PAGE, STYLE),
            '<div class="fb-sheet">',
            *(
                _section(title, [*map(_equations, shown), _letters(shown)])
                for title, shown in SECTIONS.items()
            ),
            _section(
                "Reliability and power",
                [_equations(_FAILURES), _equations(_POWER), _letters((_FAILURES, _POWER))],
            ),
            _section("Memory of training", [_zero()]),
            _section("Number formats", [_formats()]),
            _section("Units", [_units()]),
            _section("Chips", [_chips()], "fb-across"),
            "</div>\n",
        ]
    )


_FAILURES = Shown(
    "reliability",
    {"mtbf": "time between failures", "best_interval": "best checkpoint interval"},
)
_POWER = Shown("cluster-power", {"it_watts": "power of the computers", "watts": "of the site"})


def _equation(latex: str, words: str, href: str) -> Html:
    return Html("<p>{} {}</p>").format(maths(latex), link(words, href))


def _equations(shown: Shown) -> Html:
    latex = special(get_formula(shown.calculator), shown.names, shown.given, shown.inline)
    href = html_link(PAGE, calculator_page(shown.calculator))
    return Html().join(_equation(latex[name], words, href) for name, words in shown.names.items())


def _table(head: tuple[str, ...], rows: Iterator[tuple[str, ...]]) -> str:
    heads = "".join(f'<th scope="col">{cell}</th>' if cell else "<td></td>" for cell in head)
    lines = []
    for first, *rest in rows:
        cells = "".join(f"<td>{cell}</td>" for cell in rest)
        lines.append(f'<tr><th scope="row">{first}</th>{cells}</tr>')
    return f"<table><thead><tr>{heads}</tr></thead><tbody>{''.join(lines)}</tbody></table>"


def _zero() -> str:
    """Bytes for each parameter by stage of ZeRO, from the calculator: mixed precision with Adam on
    eight chips.
    """
    chips, params = 8, 1e9
    shape = {
        "layers": 16,
        "d_model": 2048,
        "d_ff": 8192,
        "heads": 16,
        "vocab": 32000,
        "seq": 1024,
        "micro_batch": 1,
    }

    def rows() -> Iterator[tuple[str, ...]]:
        for stage in range(4):
            found = calculate("memory", params=params, dp=chips, zero=stage, **shape)
            parts = [found[name] / params for name in ("weights", "gradients", "optimizer")]
            yield (
                f"ZeRO-{stage}" if stage else "copies",
                *(f"{one:g}" for one in (*parts, sum(parts))),
            )

    words = f"Bytes for each parameter on one of {chips} chips, bf16 with Adam"
    return f"<p>{words}</p>" + _table(("", "weights", "gradients", "optimizer", "all"), rows())


def _formats() -> str:
    rows = (
        (
            escape(one.name),
            f"{one.sign}+{one.exponent}+{one.fraction or one.whole}",
            f"{one.bytes:g}",
            f"{one.largest:.5g}",
            f"{one.step:.2g}",
        )
        for one in FORMATS
    )
    words = "<p>Bits: sign, exponent, fraction. After 1: the step to the next number.</p>"
    return words + _table(("Format", "Bits", "Bytes", "Largest", "After 1"), rows)


def _units() -> str:
    powers = [f"{name} ${_power(PREFIXES[name])}$" for name in ("k", "M", "G", "T", "P", "E")]
    gib, day = (
        unit("GiB").factor / unit("GB").factor,
        calculate("training-flops", params=1, tokens=1),
    )
    of_day = day["flop"] / day["pf_days"]
    lines = [
        ", ".join(powers),
        f"GiB = {gib:.4g} GB; byte = {unit('byte').factor / unit('bit').factor:g} bit",
        f"FLOP counts, FLOP/s is a rate; PF-day = {format_quantity(of_day, 'FLOP')}",
        "Links are one way, peaks dense, bandwidths decimal",
    ]
    return "".join(f"<p>{line}</p>" for line in lines)


def _power(value: float) -> str:
    return f"10^{{{round(math.log10(value))}}}"


def _chips() -> str:
    head = (
        "Chip",
        "bf16",
        "fp8",
        "Memory",
        "Bandwidth",
        "Ridge, FLOP/byte",
        "Scale-up, one way",
        "Domain",
        "Power",
    )
    return _table(head, map(_chip_row, map(chip, CHIPS)))


def _chip_row(item: Chip) -> tuple[str, ...]:
    domain = item.pick_scaleup_domain()
    ridge = calculate("ridge-point", chip=item.id)["flop_per_byte"]
    try:
        fp8 = format_quantity(item.peak("fp8"), "FLOP/s")
    except FlopbookError:  # has no such peak
        fp8 = "none"
    cells = (
        format_quantity(item.peak("bf16"), "FLOP/s"),
        fp8,
        format_quantity(item.memory(), "byte"),
        format_quantity(item.memory_bandwidth(), "byte/s"),
        f"{ridge:.0f}",
        format_quantity(item.scaleup_bandwidth(), "byte/s"),
        f"{domain.value:,.0f}" if domain else "",
        format_quantity(item.power(), "W"),
    )
    return (link(item.name, html_link(PAGE, entry_page(item.id))), *map(escape, cells))


def _letters(shown: Iterable[Shown]) -> str:
    """What the letters of these equations mean, linked to the glossary; letters of one meaning
    stand together.
    """
    meanings: dict[str, Html] = {}
    for shown in section:
        for symbol, meaning in _meanings(shown):
            meanings.setdefault(symbol, meaning)
    symbols: dict[Html, list[Html]] = {}
    for symbol, meaning in meanings.items():
        symbols.setdefault(meaning, []).append(maths(symbol))
    groups = (
        Html("{} {}").format(Html(", ").join(same), meaning) for meaning, same in symbols.items()
    )
    return tag("p", Html("; ").join(groups), "fb-letters")


def _meanings(shown: Shown) -> Iterator[tuple[str, Html]]:
    """Symbol and meaning of every input in some equations of a calculator."""
    formula = get_formula(shown.calculator)
    expressions = folded(formula, shown.given, shown.inline)
    inputs: dict[str, None] = {}  # a set that keeps its order
    for output in shown.names:
        inputs |= dict.fromkeys(inputs_of(formula, expressions[output]))
    for name in inputs:
        spec = formula.inputs[name]
        term = term_of(name, spec)
        if term:
            words = MEANS.get(f"{shown.calculator}.{name}", MEANS.get(name, term.term))
            yield spec.symbol, link(words, html_link(PAGE, f"glossary.md#{term.id}"))


# Tables.


def _zero() -> Html:
    """Bytes for each parameter by stage of ZeRO, from the calculator: mixed precision with Adam on
    eight chips.
    """
    words = f"Bytes for each parameter on one of {ZERO_CHIPS} chips, bf16 with Adam"
    head = ("", "weights", "gradients", "optimizer", "all")
    return tag("p", words) + _table(head, map(_zero_row, range(4)))


def _zero_row(stage: int) -> list[str]:
    memory = calculate("memory", params=ZERO_PARAMS, dp=ZERO_CHIPS, zero=stage, **ZERO_SHAPE)
    shares = [memory[name] / ZERO_PARAMS for name in ("weights", "gradients", "optimizer")]
    title = f"ZeRO-{stage}" if stage else "copies"
    return [title, *(f"{share:g}" for share in (*shares, sum(shares)))]


def _formats() -> Html:
    words = Html("<p>Bits: sign, exponent, fraction. After 1: the step to the next number.</p>")
    head = ("Format", "Bits", "Bytes", "Largest", "After 1")
    return words + _table(head, map(_format_row, FORMATS))


def _format_row(number_format: Format) -> tuple[str, ...]:
    bits = (
        number_format.sign,
        number_format.exponent,
        number_format.fraction or number_format.whole,  # an integer has no fraction
    )
    return (
        number_format.name,
        Html("+").join(map(str, bits)),
        f"{number_format.bytes:g}",
        Html("{:.5g}").format(number_format.largest),
        f"{number_format.step:.2g}",
    )


def _units() -> Html:
    prefixes = Html(", ").join(
        Html("{} {}").format(name, maths(_power(PREFIXES[name])))
        for name in ("k", "M", "G", "T", "P", "E")
    )
    # From the table of units, so that the sheet cannot differ from the calculators.
    gib = unit("GiB").factor / unit("GB").factor
    bits = unit("byte").factor / unit("bit").factor
    one_flop = calculate("training-flops", params=1, tokens=1)
    pf_day = format_quantity(one_flop["flop"] / one_flop["pf_days"], "FLOP")
    lines = (
        prefixes,
        Html("GiB = {:.4g} GB; byte = {:g} bit").format(gib, bits),
        Html("FLOP counts, FLOP/s is a rate; PF-day = {}").format(pf_day),
        Html("Links are one way, peaks dense, bandwidths decimal"),
    )
    return Html().join(tag("p", line) for line in lines)


def _power(factor: float) -> str:
    return f"10^{{{round(math.log10(factor))}}}"


def _chip_row(accelerator: Chip) -> tuple[str, ...]:
    domain = accelerator.pick_scaleup_domain()
    ridge = calculate("ridge-point", chip=accelerator.id)["flop_per_byte"]
    return (
        link(accelerator.name, html_link(PAGE, entry_page(accelerator.id))),
        format_quantity(accelerator.peak("bf16"), "FLOP/s"),
        _fp8_peak(accelerator),
        format_quantity(accelerator.memory(), "byte"),
        format_quantity(accelerator.memory_bandwidth(), "byte/s"),
        f"{ridge:.0f}",
        format_quantity(accelerator.scaleup_bandwidth(), "byte/s"),
        f"{domain.value:,.0f}" if domain else "",
        format_quantity(accelerator.power(), "W"),
    )


def _fp8_peak(accelerator: Chip) -> str:
    try:
        return format_quantity(accelerator.peak("fp8"), "FLOP/s")
    except FlopbookError:  # the chip has no such peak
        return "none"
