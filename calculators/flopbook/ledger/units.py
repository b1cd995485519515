"""The unit of an expression of the ledger, as far as its parts tell it: a rate is no count,
whatever the number.
"""

from __future__ import annotations

import ast

from flopbook.errors import FlopbookError
from flopbook.faces.dimensions import Dim
from flopbook.formulas import get_formula
from flopbook.quantities.expressions import ExpressionError
from flopbook.quantities.units import unit

# What chip() and model() give, in SI; other attributes of a model are counts. `total` is of
# whatever is summed.
CHIP_UNITS = {
    "peak": "FLOP/s",
    "memory": "byte",
    "memory_bandwidth": "byte/s",
    "scaleup_bandwidth": "byte/s",
    "power": "W",
}
MODEL_UNITS = {"train_flop": "FLOP", "gpu_hours": "chip-hour"}


def expression_dimensions(expression: str) -> Dim | None:
    """Dimensions of what an expression gives, or None where they cannot be told: a bare number may
    stand for anything.

    Raises FlopbookError where two sides that are added have different ones, or a name is unknown.
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
        return _of_calculator(node.value, node.slice.value)
    if isinstance(node, ast.Attribute) and _called(node.value) == "model":
        return Dim(unit(MODEL_UNITS.get(node.attr, "1")).dimensions)
    if isinstance(node, ast.Call):
        return _of_call(node)
    return None


def _of_operation(node: ast.BinOp) -> Dim | None:
    left, right = _dim(node.left), _dim(node.right)
    if left is None or right is None:
        return None
    if isinstance(node.op, (ast.Mult, ast.Div)):
        return left.times(right, 1 if isinstance(node.op, ast.Mult) else -1)
    if isinstance(node.op, (ast.Add, ast.Sub)):
        if left != right:
            raise FlopbookError(f"'{ast.unparse(node)}' adds {left} and {right}")
        return left
    return None


def _of_call(node: ast.Call) -> Dim | None:
    name = _called(node)
    if name == "calc":
        return _of_calculator(node, None)
    if name == "q":
        return _of_quantity(node)
    if isinstance(node.func, ast.Attribute) and _called(node.func.value) == "chip":
        known = CHIP_UNITS.get(node.func.attr)
        return Dim(unit(known).dimensions) if known else None
    return None


def _of_calculator(call: ast.expr, output: object) -> Dim | None:
    """Dimensions of a calculator's output, the first where none is named."""
    if (
        _called(call) != "calc"
        or not isinstance(call, ast.Call)
        or not isinstance(call.args[0], ast.Constant)
    ):
        return None
    outputs = get_formula(str(call.args[0].value)).outputs
    found = outputs.get(str(output)) if output else next(iter(outputs.values()))
    return Dim(unit(found.unit).dimensions) if found and found.unit and not found.choices else None


def _of_quantity(node: ast.Call) -> Dim | None:
    text = node.args[0].value if node.args and isinstance(node.args[0], ast.Constant) else ""
    name = str(text).strip().lstrip("+-0123456789._eE ")
    return Dim(unit(name).dimensions) if name else None


def _called(node: ast.expr) -> str:
    """The name of a function that is called by name; empty for everything else."""
    return node.func.id if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) else ""
