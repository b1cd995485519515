"""The words of a check: patterns that read a statement, and the sentences that answer it.

Python and the page read the same tables (`assets/flopbook/check.json`), so the patterns keep to
what both kinds of regular expression have, and the logic around them holds no word of its own.
Patterns ignore case, except for the `b` of bits.
"""

from __future__ import annotations

from collections.abc import Mapping

MOST_STATEMENTS = 8  # numbers that are checked in one text
LONGEST = 500  # characters of a text

NUMBER = (
    r"(?<![A-Za-z0-9.,])([0-9]{1,3}(?:,[0-9]{3})+|[0-9]{1,20})(\.[0-9]{1,20})?(e[+-]?[0-9]{1,2})?"
    r"[ \-]?(k|m|g|t|p|e|kilo|mega|giga|tera|peta|exa|thousand|million|billion|trillion|bn|b)?"
    r"([Ii]?)[ \-]?"
    r"(flops?/s(?:ec(?:ond)?)?|flops?|f|ops?/s(?:ec)?|ops|"
    r"(?:bytes?|bits?|b)(?:/s(?:ec(?:ond)?)?| per second|ps)|bytes?|b|"
    r"watts?|w|hz|hertz|mm2|mm²|mm\^2|transistors?|"
    r"(?:usd|dollars?)(?: ?(?:/|per|an?) ?(?:(?:gpu|chip)[ /-]?)?(?:hours?|hr|h))?|"
    r"sms|cus|(?:(?:cuda|tensor|matrix|gpu|ai|xe) )?cores|compute units|"
    r"streaming multiprocessors)(?![A-Za-z0-9])"
)
_FORMAT = r"(?:(?:mx|nv)?fp[0-9]{1,2}|bf(?:loat)?16|tf32|int[48])"
# How pages and other countries write: 1 979 and 1'979 with a narrow blank or an apostrophe, blanks
# that do not break, 1.979,4 and 3,35 with a decimal comma (a comma before three digits parts
# thousands), and "TB / s". What each becomes, in this order; {1} is the first group.
SPELLINGS: tuple[tuple[str, str], ...] = (
    (
        "((?<![A-Za-z0-9.,])[0-9]{1,3})[\u2009\u202f\u00a0'\u2019](?=[0-9]{3}(?![0-9]))",
        "{1}",
    ),
    ("[\u2000-\u200a\u202f\u00a0]", " "),
    (r"(?<![A-Za-z0-9.,])([0-9]{1,3})\.([0-9]{3}),(?=[0-9])", "{1}{2}."),
    (r"(?<![A-Za-z0-9.,])([0-9]{1,20}),(?=(?:[0-9]{1,2}|[0-9]{4,20})(?![0-9,.]))", "{1}."),
    (r" ?/ ?(?=s(?:ec(?:ond)?)?\b|h(?:our|r)?\b)", "/"),
    # `80 gigs` are 80G; `400GbE` is a network.
    (r"([0-9]) ?gigs?(?![A-Za-z0-9])", "{1}G"),
    (r"([0-9]) ?gbe(?![A-Za-z0-9])", "{1} Gbit/s"),
    (r"(?<![A-Za-z0-9])xtors?(?![A-Za-z0-9])|(?<=[0-9][bB])xtors?(?![A-Za-z0-9])", "transistors"),
    # `1979 w/ sparsity` is no power of 1,979 W.
    (r"(?<![A-Za-z0-9])w/o(?![A-Za-z0-9])", "without"),
    (r"(?<![A-Za-z0-9])w/(?= |spars)", "with "),
    # `1307 TFLOPS fp16, 2614 fp8`: the second number has the unit of the first.
    (
        rf"\b((?:[kmgtpe]|tera|peta)?(?:flops?|ops)(?:/s)?) ({_FORMAT})(,? and |, ?|/ ?)"
        rf"([0-9][0-9,.]{{0,12}}) (?={_FORMAT}(?![A-Za-z0-9])"
        r"(?! ?(?:[kmgtpe]|tera|peta)?(?:flops?|ops)(?![A-Za-z0-9])))",
        "{1} {2}{3}{4} {1} ",
    ),
)
# `989T`, `80G` and `80gb`: a number whose unit is cut short. Small letters that stand for other
# things as well count only as capitals, and so do all behind a blank.
SHORT = (
    r"(?<![A-Za-z0-9.,])([0-9]{1,3}(?:,[0-9]{3})+|[0-9]{1,20})(\.[0-9]{1,20})?( ?)([kmgtpe])(b?)"
    r"(?![A-Za-z0-9/])(?!\.[0-9])(?! ?(?:tokens?|param|model|context|steps?|requests?|users?))"
)
SHORT_SMALL = "kgt"
# What each may be short for, likeliest first.
SHORT_UNITS: Mapping[str, tuple[str, ...]] = {
    "k": ("usd",),
    "m": ("B",),
    "g": ("B", "B/s"),
    "t": ("flops", "B/s", "B"),
    "p": ("flops",),
    "e": ("flops",),
    "mb": ("B",),
    "gb": ("B", "bit/s"),
    "tb": ("B", "bit/s"),
}
LOWER_FLOW = r"[gt] ?b(?:/s(?:ec(?:ond)?)?| per second)"  # bits as written, bytes as often as not
# Words that say which of them is meant.
SHORT_WORDS: Mapping[str, str] = {
    "rate": r"\bcompute\b|\bpeak\b|\bmatmul|tensor|\bmfu\b",
    "flow": r"bandwidth|\bbw\b",
    "price": r"\bcosts?\b|\bprices?d?\b|\bsells?\b|\bsold\b|\bmsrp\b|\bpaid\b|\bpay\b",
}
SHORT_NEAR = 2.0  # times a value on file that a number may be and still be of its kind
# `8x H100`: how many of a chip a number is for.
TIMES = r"(?<![A-Za-z0-9.,\-])([0-9]{1,6}) ?[x×] ?(?=[A-Za-z])"
# `$30k` and `US$ 2.50/h`: the sign goes behind the amount.
MONEY = r"(?:\bUS ?)?\$ ?([0-9][0-9,.]*)( ?(?:k|m|million|thousand)(?![A-Za-z0-9]))?"
# `989 dense bf16 TFLOPS`: words between a number and its unit, which are read as if before it.
BETWEEN = (
    r"(?<![A-Za-z0-9.,])([0-9][0-9,.]*)[ \-]"
    r"((?:(?:ai|dense|sparse|peak|matrix|vector|tensor(?: cores?)?|"
    r"(?:mx|nv)?fp[0-9]{1,2}|bf(?:loat)?16|tf32|int[48])[ \-])+)"
    r"(?=(?:[kmgtpe]|kilo|mega|giga|tera|peta|exa)?(?:flops?|f|ops)(?![A-Za-z0-9]))"
)
WORD = r"[A-Za-z0-9]+"
# How many of a chip, in words.
COUNTS: Mapping[str, int] = {
    "two": 2,
    "four": 4,
    "eight": 8,
    "sixteen": 16,
}
OUTSIDE = r"[:;,=()|]"  # marks that no name of a chip has inside
CLAUSE = r"[;\n]|,(?![0-9]{3})|\band\b|\bor\b"

# Each prefix: what it is worth, its letter, and what stands before things that are counted.
_PREFIXES: tuple[tuple[str, float, str, str], ...] = (
    ("", 1.0, "", ""),
    ("k", 1e3, "k", "thousand "),
    ("kilo", 1e3, "k", "thousand "),
    ("thousand", 1e3, "k", "thousand "),
    ("m", 1e6, "M", "million "),
    ("mega", 1e6, "M", "million "),
    ("million", 1e6, "M", "million "),
    ("g", 1e9, "G", "billion "),
    ("giga", 1e9, "G", "billion "),
    ("billion", 1e9, "G", "billion "),
    ("bn", 1e9, "G", "billion "),
    ("b", 1e9, "G", "billion "),
    ("t", 1e12, "T", "trillion "),
    ("tera", 1e12, "T", "trillion "),
    ("trillion", 1e12, "T", "trillion "),
    ("p", 1e15, "P", ""),
    ("peta", 1e15, "P", ""),
    ("e", 1e18, "E", ""),
    ("exa", 1e18, "E", ""),
)
PREFIXES: Mapping[str, float] = {name: factor for name, factor, _, _ in _PREFIXES}
LETTERS: Mapping[str, str] = {name: letter for name, _, letter, _ in _PREFIXES}
SIZES: Mapping[str, str] = {name: size for name, _, _, size in _PREFIXES}
# What a spelling of a unit measures, what it is worth in SI, and how answers write it. The first
# pattern that fits the whole spelling counts.
UNITS: tuple[tuple[str, str, float, str], ...] = (
    (r"f(?:lops?)?(?:/s(?:ec(?:ond)?)?)?", "rate", 1.0, "FLOP/s"),
    (r"ops?(?:/s(?:ec)?)?", "rate", 1.0, "OP/s"),
    (r"bytes?(?:/s(?:ec(?:ond)?)?| per second|ps)", "flow", 1.0, "B/s"),
    (r"bits?(?:/s(?:ec(?:ond)?)?| per second|ps)", "flow", 0.125, "bit/s"),
    (r"bytes?", "bytes", 1.0, "B"),
    (r"watts?|w", "watts", 1.0, "W"),
    (r"hz|hertz", "hertz", 1.0, "Hz"),
    (r"mm2|mm²|mm\^2", "area", 1e-6, "mm²"),
    (r"transistors?", "count", 1.0, "transistors"),
    (r"usd|dollars?", "price", 1.0, "USD"),
    (r"(?:usd|dollars?).+", "rent", 1 / 3600, "USD/h"),
    (
        r"sms|cus|.*(?:cores|units|processors)",
        "cores",
        1.0,
        "",
    ),  # cores of many names: answers write the one that was typed
)
# The SI unit of a claim -> what it measures.
KINDS: Mapping[str, str] = {
    "FLOP/s": "rate",
    "OP/s": "rate",
    "byte/s": "flow",
    "byte": "bytes",
    "W": "watts",
    "Hz": "hertz",
    "m2": "area",
    "count": "count",
    "USD": "price",
    "USD/s": "rent",
}
# The fields that a number of each kind may be, likeliest first.
FIELDS: Mapping[str, tuple[str, ...]] = {
    "rate": ("peak", "measured_matmul"),
    "flow": (
        "memory_bandwidth",
        "scaleup_bandwidth",
        "scaleout_bandwidth",
        "host_bandwidth",
        "bisection_bandwidth",
        "sram_bandwidth",
        "measured_bandwidth",
        "chip_to_chip_bandwidth",
    ),
    "bytes": ("memory", "sram", "cache", "stack_memory"),
    "watts": ("power",),
    "hertz": ("clock",),
    "area": ("die_area",),
    "count": ("transistors",),
    "cores": ("cores",),
    "price": ("price",),
    "rent": ("rent",),
}
# Quantities whose sizes are powers of two, which makers write with decimal units.
BINARY_FIELDS = ("cache", "sram")
# What else may separate a statement from the value of another chip of the family that it means.
FORGIVEN = ("sparse", "both-ways", "memory-type")
MULTIPLES = (2, 4, 8)  # chips whose sum is printed for one: a pair, half a server, a server
# Words that name a quantity; the first that fits the unit counts.
QUANTITIES: tuple[tuple[str, str], ...] = (
    (r"(?:hbm[0-9]?e?|memory|mem|dram|vram) ?(?:bandwidth|bw)", "memory_bandwidth"),
    (r"bisection", "bisection_bandwidth"),
    (r"\bc2c\b|chip-to-chip", "chip_to_chip_bandwidth"),
    (r"\bpcie?\b|pci express|\bhost\b", "host_bandwidth"),
    (
        r"nvlink|infinity fabric|xgmi|\bici\b|neuronlink|scale-?up|ualink|inter-?chip|"
        r"interconnect|\blinks?\b",
        "scaleup_bandwidth",
    ),
    (r"infiniband|scale-?out|\bnics?\b|network|roce|ethernet", "scaleout_bandwidth"),
    (r"\bsram\b|shared memory|register file|on-?chip", "sram"),
    (r"\bl[123]\b|\bcache", "cache"),
    (r"\bhbm|\bmemory\b|\bvram\b|\bdram\b|\bram\b|capacity", "memory"),
    (r"\bhbm|\bmemory\b|\bvram\b|\bdram\b", "memory_bandwidth"),
    (r"measured|achieved|achievable|benchmark", "measured_matmul"),
)
FORMATS: tuple[tuple[str, str], ...] = (
    (r"\bbf16\b|\bbfloat16\b", "bf16"),
    (r"\bfp16\b|\bfloat16\b|\bhalf precision\b", "fp16"),
    (r"\bmxfp8\b", "mxfp8"),
    (r"\bfp8\b|\bfloat8\b", "fp8"),
    (r"\bmxfp6\b", "mxfp6"),
    (r"\bfp6\b", "fp6"),
    (r"\bnvfp4\b", "nvfp4"),
    (r"\bmxfp4\b", "mxfp4"),
    (r"\bfp4\b", "fp4"),
    (r"\bint8\b", "int8"),
    (r"\bint4\b", "int4"),
    (r"\btf32\b", "tf32"),
    (r"\bfp32\b|\bfloat32\b|\bsingle precision\b", "fp32"),
    (r"\bfp64\b|\bfloat64\b|\bdouble precision\b", "fp64"),
)
# What a claim's format answers for beside its own name: vendors print one rate for the family.
RELATED: Mapping[str, tuple[str, ...]] = {
    "fp4": ("nvfp4", "mxfp4"),
    "fp8": ("mxfp8",),
    "fp6": ("mxfp6",),
    "nvfp4": ("fp4",),
    "mxfp4": ("fp4",),
    "mxfp8": ("fp8",),
    "mxfp6": ("fp6",),
}
# The format of a rate where none is said: the first of these that the chip has.
USUAL = ("bf16", "fp16", "int8", "fp8", "fp32")
# Formats whose plain vector rate is what people mean, as few chips have another.
VECTOR_FORMATS = ("fp32", "fp64")
MEMORY = (
    r"(?<![A-Za-z0-9])(?:hbm[0-9]?e?|(?:gddr|lpddr)[0-9]?x?|ddr[0-9]?)(?![A-Za-z0-9])"  # a type
)
SPARSE = r"spars|2:4"
DENSE = r"\bdense\b|without spars|no spars"
BOTH = r"both ways|both directions|bi-?directional|\bbidir|duplex"
ONE = r"one[- ]way|one direction|each direction|each way|uni-?directional|\bunidir|per direction"
PER_LINK = r"per link|each link|a link|links? (?:of|at|with)"
PER_NODE = r"per node|per server|per system|per rack|whole|in total|per pod|\bnode\b|\brack\b"
PER_CHIP = r"per gpu|per chip|per tpu|per accelerator|per package|each gpu"
VECTOR = r"\bvector\b|cuda cores?|non-?tensor|without tensor|shader"

# What separates a claim from what was stated -> how far it is from it. The nearest claim answers.
COSTS: Mapping[str, float] = {
    "open-format": 3.0,
    "format": 4.0,
    "vector": 2.5,
    "sparse": 2.0,
    "dense": 3.0,
    "both-ways": 2.0,
    "memory-type": 2.0,
    "one-way": 4.0,
    "per-link": 3.5,
    "per-node": 5.2,  # more than a format left open and sparse: 3,352 TOPS of an RTX 5090
    "per-chip": 4.5,
    "binary": 5.0,
    "bits": 5.9,
    "measured": 5.0,
    "quantity": 6.0,
    "error": 8.0,
    "other-chip": 10.0,
}
NEAREST_COST = 0.1  # how much a unit of cost weighs against a difference of 10 %, in the nearest

QUANTITY_NAMES: Mapping[str, str] = {
    "peak": "peak rate",
    "measured_matmul": "measured matrix rate",
    "memory": "memory",
    "memory_bandwidth": "memory bandwidth",
    "scaleup_bandwidth": "scale-up bandwidth",
    "scaleout_bandwidth": "scale-out bandwidth",
    "host_bandwidth": "bandwidth to the host",
    "bisection_bandwidth": "bisection bandwidth",
    "chip_to_chip_bandwidth": "bandwidth between chips",
    "sram_bandwidth": "on-chip bandwidth",
    "measured_bandwidth": "measured bandwidth",
    "sram": "on-chip memory",
    "cache": "cache",
    "stack_memory": "memory of a stack",
    "power": "power",
    "clock": "clock",
    "die_area": "die area",
    "transistors": "transistors",
    "cores": "number of cores",
    "price": "price",
    "rent": "price of an hour",
}
SENTENCES: Mapping[str, str] = {
    "holds": "{chip}: {stated} holds: {what}",
    "rounded": "{chip}: {stated} holds, rounded from {value}: {what}",
    "close": "{chip}: {stated} holds within {off} of {value}, which is on file: {what}",
    "departs": "{chip}: {stated} is {what}",
    "departs-rounded": "{chip}: {stated} is {value} rounded, {what}",
    "departs-close": "{chip}: {stated} is within {off} of {value}, {what}",
    "error": "{chip}: {stated} is printed, but it is an error: {what}",
    "other-chip": "{asked}: {stated} is not a value of this chip; it is {what} of {chip}",
    "none": "{chip}: {stated} is not a value of this chip",
    "none-price": "{chip}: {stated} is not a price on file",
    "none-recorded": "{chip}: {stated} cannot be checked; no {kind} is on file",
    "nearest": "nearest is {value}, {what}",
    "multiple": "it is {times} times {value}, {what}",
    "other-named": "{chip}, which the text names too, has it: {what}",
    "sparse": "dense is {value}",
    "half": "dense is half of that, {value}",
    "dense": "with sparsity it is {value}",
    "both-ways": "one way is {value}",
    "one-way": "both ways together are {value}",
    "per-node": "one {part} has {value}",
    "per-chip": "the whole {whole} has {value}",
    "per-link": "all links of a chip have {value} {way}",
    "vector": "on the matrix units it is {value}",
    "format": "in {format} it is {value}",
    "open-format": "in {format} it is {value}",
    "memory-type": "its memory is {type}, not {stated}",
    "other-type": "{chip} has that",
    "binary": "it has {value}",
    "custom": "caches are sized in powers of two, so this means {value}",
    "bits": "it has {value}",
    "quantity": "its {kind} is {value}",
    "shown": "the source that we prefer has {value}",
    "unstated": "the source does not say whether it is dense",
    "undirected": "the source does not say whether it counts one way or both",
    "also": "also {what}",
}
DESCRIPTIONS: Mapping[str, str] = {
    "sparse": "with {pattern} sparsity",
    "dense": "dense",
    "vector": "on the vector units",
    "measured": "measured",
    "both": "both ways together",
    "one-way": "one way",
    "link": "of one link",
    "domain": "of the whole domain",
    "whole": "of a whole {name}",
    "part": "of one {name}",
    "times": "of {times} chips",
    "binary": "with binary and decimal units taken for each other",
    "bits": "with bits and bytes taken for each other",
}
PROBLEMS: Mapping[str, str] = {
    "empty": 'nothing to check; write a chip and a number with its unit, such as "H100 989 TFLOPS"',
    "long": "a text of more than 500 characters; give one sentence at a time",
    "number": 'no number with a unit that can be read; write one, such as "H100 989 TFLOPS"',
    "chip": 'no chip that is on file is named; write one, such as "H100", "MI300X" or "TPU v5p"',
    "anybody": "no chip is named; write it too. On file {value} is {owners}",
    "near": "no chip that is on file is named; did you mean {names}?",
    "short": "{stated} may be {readings}; write its unit",
    "date": "dates are not checked; the page of the chip has them with their sources",
}
DATE = r"(?<![0-9.,])20[0-9]{2}(?![0-9.,])"  # no chip on file is older: 1979 lacks its unit
BY = "by "  # before the name of a maker in the table of names, which no chip has
SHORTEST_NEAR = 4  # letters of a name that is taken for a slip of the finger
MOST_NEAR = 3
SHORTEST_PART = 3  # letters of a word that says nothing of what a value is of: per, SM
MOST_OWNERS = 3  # chips that are named for a number without one, of as many quantities
CACHES = ("sram", "cache")  # which of the two a memory on the chip is, makers name differently


def record() -> dict[str, object]:
    """All tables as JSON has them, for the page."""
    return {name: value for name, value in globals().items() if name.isupper() and name[0] != "_"}
