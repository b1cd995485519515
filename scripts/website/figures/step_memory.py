"""What lies in memory during one training step: weights, optimizer, activations, gradients."""

from __future__ import annotations

from flopbook.evaluation.calculator import calculate
from flopbook.quantities.units import format_quantity
from scripts.website.figures.chart import Axis, Chart
from scripts.website.figures.drawing import Figure, box, path, words

_MODEL = "llama-3-8b"
_TIMES = (0.0, 1.0, 3.0, 3.4)  # start, end of forward, end of backward, end of the update
_KINDS = (("weights", "c0"), ("optimizer", "c5"), ("gradients", "c3"), ("activations", "c1"))


def figure() -> Figure:
    """Stacked areas over one step of the model with one sequence."""
    found = calculate(
        "memory", model=_MODEL, seq=8192, recompute="none", attention="flash", dropout="no"
    )
    size = {name: float(found[name]) for name, _ in _KINDS}
    size["activations"] += float(found["logits"])
    over = {
        "weights": [size["weights"]] * 4,
        "optimizer": [size["optimizer"]] * 4,
        "gradients": [0.0, 0.0, size["gradients"], size["gradients"]],
        "activations": [0.0, size["activations"], 0.0, 0.0],
    }
    top = max(sum(over[name][n] for name, _ in _KINDS) for n in range(4))
    chart = Chart(
        Axis("", 0, _TIMES[-1], "", log=False),
        Axis("memory", 0, 1.08 * top, "byte", log=False),
        (84, 34, 616, 270),
    )
    shapes = [piece for piece in chart.grid() if ">memory<" in piece or "GB<" in piece]
    below = [0.0] * 4
    for name, kind in _KINDS:
        above = [b + v for b, v in zip(below, over[name], strict=True)]
        edge = [*zip(_TIMES, below, strict=True), *reversed(list(zip(_TIMES, above, strict=True)))]
        points = " ".join(f"{chart.x.at(t)},{chart.y.at(v)}" for t, v in edge)
        shapes.append(f'<polygon class="fb-{kind}" points="{points}"/>')
        below = above
    for left, right, name in zip(
        _TIMES[:-1], _TIMES[1:], ("forward", "backward", "update"), strict=True
    ):
        shapes.append(path([(chart.x.at(right), 34), (chart.x.at(right), 270)], "fb-dashed"))
        shapes.append(words((chart.x.at(left) + chart.x.at(right)) / 2, 288, name))
    left = 84.0
    for name, kind in _KINDS:
        shapes += [box(left, 8, 12, 12, f"fb-{kind}"), words(left + 17, 18, name, "start")]
        left += 46 + 6.4 * len(name)
    sizes = ", ".join(f"{name} {format_quantity(size[name], 'byte')}" for name, _ in _KINDS)
    return Figure(
        "Memory during one training step",
        "Stacked areas over time. Always there: weights and optimizer state. Activations grow in "
        "the forward pass and shrink in the backward pass, while gradients grow; the update uses "
        f"all but the activations. At most: {sizes}.",
        "Llama 3 8B, one sequence of 8,192 tokens, all but the scores of attention kept. Memory is "
        "fullest when the forward pass ends. Times are drawn as if the backward pass took twice as "
        "long as the forward pass.",
        298,
        tuple(shapes),
    )
