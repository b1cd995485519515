"""Units and quantities as the rest of the package imports them.

The table of units is in `unit_table`, amounts are read in `parsing` and written in `formatting`.
"""

from flopbook.quantities.formatting import (
    BINARY,
    format_quantity,
    other_units,
    percent,
    plural,
    two_digits,
)
from flopbook.quantities.parsing import WAYS, is_bare, one_way, parse_quantity
from flopbook.quantities.unit_table import (
    CUSTOMARY,
    PREFIXES,
    Dimensions,
    Unit,
    UnitError,
    to_si,
    unit,
)

__all__ = [
    "BINARY",
    "CUSTOMARY",
    "PREFIXES",
    "WAYS",
    "Dimensions",
    "Unit",
    "UnitError",
    "format_quantity",
    "is_bare",
    "one_way",
    "other_units",
    "parse_quantity",
    "percent",
    "plural",
    "to_si",
    "two_digits",
    "unit",
]
