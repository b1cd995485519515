"""The unit of an expression of the ledger, as far as it can be told.

A rate is no count, whatever the number.
"""

from __future__ import annotations

import ast

from flopbook.errors import FlopbookError
from flopbook.faces.dimensions import Dim
from flopbook.formulas import get_formula
from flopbook.quantities.expressions import ExpressionError
from flopbook.quantities.units import unit

# What chip() and model() give, in SI; other attributes of a model are counts. `total` is not here:
# it is of whatever is summed.
CHIP_UNITS = {
    "peak": "FLOP/s",
    "memory": "byte",
    "memory_bandwidth": "byte/s",
    "scaleup_bandwidth": "byte/s",
    "power": "W",
}
MODEL_UNITS = {"train_flop": "FLOP", "gpu_hours": "chip-hour"}


def expression_dimensions(expression: str) -> Dim | None:
    """Dimensions of what an expression gives, or None where they cannot be told.

    A bare number may stand for anything. Raises FlopbookError where two sides that are added have
    different ones, or a name is unknown.
    """
    try:
        return _dim(ast.parse(expression.strip(), mode="eval").body)
    except SyntaxError:
        raise ExpressionError("not an expression") from None


def _dim(node: ast.expr) -> Dim | None:
    if isinstance(node, ast.BinOp):
        return _of_operation(node)
    if isinstance(node, ast.UnaryOp):
        return _dim(node.operand)
    if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Constant):
        return _of_calculator(node.value, str(node.slice.value))
    if isinstance(node, ast.Attribute) and _called(node.value) == "model":
        return _of_unit(MODEL_UNITS.get(node.attr, "1"))
    if isinstance(node, ast.Call):
        return _of_call(node)
    return None


def _of_operation(node: ast.BinOp) -> Dim | None:
    left, right = _dim(node.left), _dim(node.right)
    if left is None or right is None:
        return None
    if isinstance(node.op, ast.Mult):
        return left.times(right, 1)
    if isinstance(node.op, ast.Div):
        return left.times(right, -1)
    if not isinstance(node.op, (ast.Add, ast.Sub)):
        return None
    if left != right:
        raise FlopbookError(f"'{ast.unparse(node)}' adds {left} and {right}")
    return left


def _of_call(node: ast.Call) -> Dim | None:
    name = _called(node)
    if name == "calc":
        return _of_calculator(node, "")
    if name == "q":
        return _of_quantity(node)
    if isinstance(node.func, ast.Attribute) and _called(node.func.value) == "chip":
        return _of_unit(CHIP_UNITS.get(node.func.attr, ""))
    return None


def _of_calculator(node: ast.expr, output: str) -> Dim | None:
    """Dimensions of a calculator's output, the first where none is named."""
    if _called(node) != "calc" or not isinstance(node, ast.Call):
        return None
    calculator = _first_text(node)
    if not calculator:
        return None
    outputs = get_formula(calculator).outputs
    named = outputs.get(output or next(iter(outputs)))
    if named is None or named.choices:  # a word has no dimensions
        return None
    return _of_unit(named.unit)


def _of_quantity(node: ast.Call) -> Dim | None:
    # "2.5e3 GB/s" without its number. The E of exa goes, too, which changes no dimension.
    return _of_unit(_first_text(node).strip().lstrip("+-0123456789._eE "))


def _of_unit(name: str) -> Dim | None:
    if not name:
        return None
    return Dim(unit(name).dimensions)


def _first_text(node: ast.Call) -> str:
    """The first argument of a call if it is written out; empty for none, or one to be computed."""
    if not node.args or not isinstance(node.args[0], ast.Constant):
        return ""
    return str(node.args[0].value)


def _called(node: ast.expr) -> str:
    """The name of a function that is called by name; empty for everything else."""
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
        return node.func.id
    return ""
