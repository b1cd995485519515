"""Formulas in JavaScript: the same operations in the same order, the same doubles.

The form on a page computes with it. Rules and omissions are printed too, so that the form refuses
what the command line refuses and notes what it notes.
"""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterable, Mapping
from string import Formatter

from flopbook.faces.tree import function_called, names_in, statement_steps, steps
from flopbook.formulas.conditions import Rule, chip_has_the_axes
from flopbook.formulas.declaration import Formula
from flopbook.formulas.omissions import TENTH, Omission
from flopbook.formulas.statements import LARGEST_DIVIDED, Statement

_HEADER = "// Made from the Python formulas; a test in the browser holds both equal."

# Sign and precedence; `&` and `|` join conditions, which JavaScript writes `&&` and `||`.
_BINARY: Mapping[type[ast.operator], tuple[str, int]] = {
    ast.BitOr: ("||", 1),
    ast.BitAnd: ("&&", 2),
    ast.Add: ("+", 3),
    ast.Sub: ("-", 3),
    ast.Mult: ("*", 4),
    ast.Div: ("/", 4),
    ast.Mod: ("%", 4),
}
_BRACKETED = 5  # above every precedence
_SPECIAL = re.compile(r"[`\\$]")  # what ends or opens something in a template literal
_COMPARE: Mapping[type[ast.cmpop], str] = {
    ast.Lt: "<",
    ast.LtE: "<=",
    ast.Gt: ">",
    ast.GtE: ">=",
    ast.Eq: "===",
    ast.NotEq: "!==",
}
_FUNCTIONS = {
    "minimum": "Math.min",
    "maximum": "Math.max",
    "floor": "Math.floor",
    "ceil": "Math.ceil",
    "sqrt": "Math.sqrt",
}

# The suggestions of `formulas.statements.SUGGESTIONS`, by the same names.
_SUGGESTIONS = {
    "divisor": f"""\
function divisor(value, number) {{
  if (number > {LARGEST_DIVIDED:.0f}) return `a divisor of ${{number.toFixed(0)}}`;
  const small = [];
  for (let n = 1; n * n <= number; n++) if (number % n === 0) small.push(n);
  const divisors = [...small, ...small.map((n) => number / n).reverse()];
  const below = divisors.filter((n) => n < value).slice(-1);
  const above = divisors.filter((n) => n > value).slice(0, 1);
  return [...below, ...above].join(" or ");
}}""",
    "multiple": """\
function multiple(value, number) {
  const below = Math.floor(value / number) * number;
  return [below, below + number].filter((n) => n > 0).join(" or ");
}""",
}

# `formulas.omissions.size_of`, and whether an omission is large enough for a note.
_SIZES = f"""\
function sizeOf(share) {{
  if (share < 1) {{
    return `${{share < 0 ? "-" : "+"}}${{Math.floor(Math.abs(share) * 100 + 0.5)}} %`;
  }}
  const times = 1 + share;
  if (times < 10) return `${{(Math.floor(times * 10 + 0.5) / 10).toFixed(1)}} times`;
  return `${{Math.floor(times + 0.5).toFixed(0)}} times`;
}}
function isNoted(share) {{
  return Math.abs(share) > {TENTH!r} && Math.abs(share) < Infinity;
}}"""


def function_name(formula: Formula) -> str:
    """The formula's id as a JavaScript name: `min-batch` -> `min_batch`."""
    return formula.id.replace("-", "_")


def rules_name(formula: Formula) -> str:
    """The function that says which rule some inputs break: `min-batch` -> `min_batch_broken`."""
    return f"{function_name(formula)}_broken"


def omissions_name(formula: Formula) -> str:
    """The function that sizes what is left out: `min-batch` -> `min_batch_omitted`."""
    return f"{function_name(formula)}_omitted"


def javascript(formula: Formula) -> str:
    """The formula as one exported function of an object of SI inputs."""
    parsed = steps(formula)
    printer = _Printer(_numbers(parsed.constants))
    lines = [f"  const {name} = {printer.text(node)};" for name, node in parsed.locals]
    outputs = ", ".join(printer.entry(name, node) for name, node in parsed.outputs)
    return "\n".join(
        [
            f"export function {function_name(formula)}({{{', '.join(formula.inputs)}}}) {{",
            *lines,
            f"  return {{{outputs}}};",
            "}",
        ]
    )


def javascript_output(formula: Formula, output: str, name: str) -> str:
    """One output as an exported function of that name, with the steps that it needs and no others.

    Inputs that are left out have their defaults.
    """
    parsed = steps(formula)
    printer = _Printer(_numbers(parsed.constants))
    result = dict(parsed.outputs)[output]
    needed = names_in(result)
    lines: list[str] = []
    for step, node in reversed(parsed.locals):
        if step in needed:
            needed |= names_in(node)
            lines.append(f"  const {step} = {printer.text(node)};")
    inputs = (_with_default(formula, each) for each in formula.inputs if each in needed)
    head = f"export function {name}({{{', '.join(inputs)}}}) {{"
    returned = f"  return {{{output}: {printer.text(result)}}};"
    return "\n".join([head, *reversed(lines), returned, "}"])


def _with_default(formula: Formula, name: str) -> str:
    """An input as a parameter, with its default where it has one."""
    default = formula.defaults.get(name)
    if default is None:
        return name
    text = json.dumps(default) if isinstance(default, str) else repr(float(default))
    return f"{name} = {text.replace('inf', 'Infinity')}"


def javascript_rules(formula: Formula) -> str:
    """The rules of a formula as one exported function: the message of the first that is broken.

    It returns an empty text where all are kept. Axes are also held against `chip_axes`, those of
    the chip named `chip`, where a form has one.
    """
    rules = rules_on_page(formula)
    used = dict.fromkeys(name for rule in rules for name in rule.inputs.values())
    own = [name for name in used if name in formula.inputs]
    if chip_has_the_axes in rules:
        own += ["chip_axes = Infinity", 'chip = ""']
    return "\n".join(
        [
            f"export function {rules_name(formula)}({{{', '.join(own)}}}) {{",
            *map(_refusal, rules),
            '  return "";',
            "}",
        ]
    )


def javascript_omissions(formula: Formula) -> str:
    """The omissions of a formula as one exported function of its inputs and outputs.

    It returns the note of each omission above a tenth by the name of the omission.
    """
    used = dict.fromkeys(name for each in formula.omissions for name in each.inputs.values())
    return "\n".join(
        [
            f"export function {omissions_name(formula)}({{{', '.join(used)}}}) {{",
            "  const $notes = {};",
            *map(_note, formula.omissions),
            "  return $notes;",
            "}",
        ]
    )


def rules_on_page(formula: Formula) -> tuple[Rule, ...]:
    """The rules that a form checks: those of its formula, and that its chip has so many axes."""
    axes = formula.inputs.get("axes")
    if axes is not None and axes.chip:
        return (*formula.rules, chip_has_the_axes)
    return formula.rules


def module(formulas: Iterable[Formula]) -> str:
    """Formulas with their rules and omissions as one JavaScript module."""
    functions: list[str] = []
    messages = ""
    for formula in formulas:
        functions += [
            javascript(formula),
            javascript_rules(formula),
            javascript_omissions(formula),
        ]
        messages += "".join(each.message for each in (*formula.rules, *formula.omissions))
    needed = [code for kind, code in _SUGGESTIONS.items() if f":{kind} of " in messages]
    if "{size}" in messages:
        needed.append(_SIZES)
    return "\n".join([_HEADER, *needed, *functions, ""])


def javascript_conditions(name: str, rules: Iterable[Rule]) -> str:
    """Whether some inputs keep all of some rules, as one exported function of an object of them."""
    chosen = list(rules)
    used = dict.fromkeys(input_name for rule in chosen for input_name in rule.inputs.values())
    lines = []
    for rule in chosen:
        named, condition = _printed(rule)
        lines += ["  {", *named, f"    if (!({condition})) return false;", "  }"]
    head = f"export function {name}({{{', '.join(used)}}}) {{"
    return "\n".join([head, *lines, "  return true;", "}"])


def _refusal(rule: Rule) -> str:
    """The lines that return the message of a rule where it is broken."""
    named, condition = _printed(rule)
    refusal = f"if (!({condition})) return {_message(rule)};"
    if not named:
        return f"  {refusal}"
    return "\n".join(["  {", *named, f"    {refusal}", "  }"])  # a block for the names of the rule


def _note(each: Omission) -> str:
    """The lines that keep the note of an omission where it is large enough."""
    named, share = _printed(each)
    # No name of a formula has a dollar sign.
    lines = [
        f"const $share = {share};",
        f"if (isNoted($share)) $notes.{each.name} = {_message(each, size='sizeOf($share)')};",
    ]
    return "\n".join(["  {", *named, *(f"    {line}" for line in lines), "  }"])


def _printed(statement: Statement) -> tuple[list[str], str]:
    """The lines of the steps of a rule or an omission, and its last expression."""
    parsed = statement_steps(statement)
    printer = _Printer({**statement.inputs, **_numbers(parsed.constants)}, parsed.words)
    named = [f"    const {name} = {printer.text(node)};" for name, node in parsed.locals]
    return named, printer.text(parsed.last)


def _message(statement: Statement, **code: str) -> str:
    """The message as a template literal; `code` is what some braces stand for."""
    text = ""
    for literal, name, suggestion, _ in Formatter().parse(statement.message):
        text += _SPECIAL.sub(r"\\\g<0>", literal)
        if name is not None:
            text += f"${{{code.get(name) or _shown(statement, name, suggestion or '')}}}"
    return f"`{text}`"


def _shown(statement: Statement, name: str, suggestion: str) -> str:
    """What the braces of a message show: a word, a whole number, or the numbers next to it."""
    value = statement.inputs[name]
    if suggestion:
        kind, _, number = suggestion.partition(" of ")
        return f"{kind}({value}, {statement.inputs[number]})"
    # An annotation is text in modules with postponed annotations.
    is_word = statement.function.__annotations__[name] in (str, "str")
    # toFixed and Python's .0f write a whole number alike; without it 1e21 would differ.
    return value if is_word else f"{value}.toFixed(0)"


def _numbers(constants: Mapping[str, float]) -> dict[str, str]:
    return {name: repr(float(number)) for name, number in constants.items()}


class _Printer:
    """Prints expressions, with the given text for some names."""

    def __init__(
        self, names: Mapping[str, str], words: Mapping[str, tuple[str, ...]] | None = None
    ) -> None:
        self._names = {"inf": "Infinity", **names}
        self._words = words or {}

    def entry(self, name: str, node: ast.expr) -> str:
        """One entry of an object; a name alone where it is the value, too."""
        text = self.text(node)
        return name if text == name else f"{name}: {text}"

    def text(self, node: ast.expr, outer: int = 0) -> str:
        """An expression, in brackets where the operator around it binds more strongly."""
        match node:
            case ast.BinOp():
                return self._operation(node, outer)
            case ast.UnaryOp(operand=operand):
                return f"(-{self.text(operand, _BRACKETED)})"
            case ast.Compare():
                return self._comparison(node)
            case ast.IfExp(test=test, body=then, orelse=otherwise):
                return self._choice(test, then, otherwise)
            case ast.Call():
                return self._call(node)
            case ast.Name(id=name):
                return self._names.get(name, name)
            case ast.Constant(value=str() as word):
                return json.dumps(word)
            case ast.Constant(value=number):
                return repr(number)
        raise TypeError(f"{type(node).__name__} is outside the subset of formulas")

    def _operation(self, node: ast.BinOp, outer: int) -> str:
        if isinstance(node.op, ast.Pow):
            return f"Math.pow({self.text(node.left)}, {self.text(node.right)})"
        sign, level = _BINARY[type(node.op)]
        # The right side of any operator keeps its brackets: doubles are not associative.
        text = f"{self.text(node.left, level)} {sign} {self.text(node.right, level + 1)}"
        return f"({text})" if level < outer else text

    def _comparison(self, node: ast.Compare) -> str:
        left, right, sign = node.left, node.comparators[0], node.ops[0]
        if isinstance(sign, (ast.In, ast.NotIn)):
            assert isinstance(right, ast.Name)
            listed = json.dumps(list(self._words[right.id]))
            negated = "!" if isinstance(sign, ast.NotIn) else ""
            return f"{negated}{listed}.includes({self.text(left)})"
        arithmetic = _BINARY[ast.Add][1]
        sides = self.text(left, arithmetic), self.text(right, arithmetic)
        return f"({sides[0]} {_COMPARE[type(sign)]} {sides[1]})"

    def _call(self, node: ast.Call) -> str:
        name = function_called(node)
        if name == "where":
            test, then, otherwise = node.args
            return self._choice(test, then, otherwise)
        return f"{_FUNCTIONS[name]}({', '.join(self.text(argument) for argument in node.args)})"

    def _choice(self, test: ast.expr, then: ast.expr, otherwise: ast.expr) -> str:
        return f"({self.text(test)} ? {self.text(then)} : {self.text(otherwise)})"
