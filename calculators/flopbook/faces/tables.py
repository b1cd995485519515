"""Tables by word in a formula, read as the choices that they stand for."""

from __future__ import annotations

import ast


def tables_as_choices(tree: ast.Module) -> ast.Module:
    """A tree with `x if word == "a" else z` in place of each table `{"a": x}.get(word, z)`.

    Every face prints choices already, as one brace of many lines or as `? :`, so none of them has
    to know of tables.
    """
    read: ast.Module = _Tables().visit(tree)
    return read


class _Tables(ast.NodeTransformer):
    def visit_Call(self, call: ast.Call) -> ast.expr:
        self.generic_visit(call)
        if not (isinstance(call.func, ast.Attribute) and call.func.attr == "get"):
            return call
        table = call.func.value
        if not (isinstance(table, ast.Dict) and len(call.args) == 2):
            return call
        word, choice = call.args
        for key, entry in reversed([*zip(table.keys, table.values, strict=True)]):
            if key is None:  # `**more` names no word; the reader refuses the call as it is
                return call
            choice = ast.IfExp(ast.Compare(word, [ast.Eq()], [key]), entry, choice)
        return ast.fix_missing_locations(ast.copy_location(choice, call))
