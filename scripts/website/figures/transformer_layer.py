"""One layer of a decoder, with the shape of every weight and what flows between them."""

from __future__ import annotations

from scripts.website.figures.drawing import Figure, arrow, box, labelled, path, words


def figure() -> Figure:
    """The residual stream from left to right, with the two blocks below it."""
    stream = 40
    shapes = [
        words(14, stream - 10, "In [B, D]", "start"),
        arrow((14, stream), (626, stream)),
        words(626, stream - 10, "Out [B, D]", "end"),
        box(60, 66, 262, 194, "fb-hollow"),
        words(142, 86, "Attention", "start", "fb-strong"),
        box(352, 66, 232, 194, "fb-hollow"),
        words(434, 86, "Feed-forward", "start", "fb-strong"),
        labelled((72, 96, 62, 26), "norm", "c5"),
        labelled((364, 96, 62, 26), "norm", "c5"),
    ]
    for number, name in enumerate(("Q [D, H·d]", "K [D, G·d]", "V [D, G·d]")):
        shapes.append(labelled((72, 132 + 34 * number, 86, 26), name, "c0"))
    shapes += [
        labelled((172, 132, 62, 94), "scores,\nsoftmax,\nmix", "c1"),
        labelled((248, 166, 64, 26), "O [H·d, D]", "c0"),
        labelled((364, 132, 86, 26), "up [D, F]", "c0"),
        labelled((364, 166, 86, 26), "gate [D, F]", "c0"),
        labelled((464, 149, 40, 26), "·", "c1"),
        labelled((516, 149, 60, 26), "dn [F, D]", "c0"),
        words(72, 250, "no weights where it is orange", "start", "fb-small"),
        words(364, 250, "D to F and back to D", "start", "fb-small"),
    ]
    for left, right in ((103, 280), (395, 546)):
        top = 166 if right == 280 else 149
        shapes += [arrow((left, stream), (left, 95)), path([(right, top), (right, stream + 9)])]
        shapes += [
            arrow((right, stream + 12), (right, stream + 6)),
            box(right - 7, stream - 7, 14, 14, "fb-c2"),
        ]
        shapes.append(words(right, stream + 4, "+", kind="fb-on2"))
    shapes += [arrow((103, 122), (103, 132)), arrow((395, 122), (395, 132))]
    for y in (145, 179, 213):
        shapes.append(arrow((158, y), (172, y)))
    shapes += [
        arrow((234, 179), (248, 179)),
        arrow((450, 145), (464, 158)),
        arrow((450, 179), (464, 168)),
    ]
    shapes.append(arrow((504, 162), (516, 162)))
    return Figure(
        "One layer of a transformer",
        "A stream of B tokens of width D runs from left to right. The attention block reads it, "
        "multiplies by the weights Q, K and V, mixes values by scores, multiplies by O and adds "
        "its result to the stream. The feed-forward block does the same with up, gate and down. "
        "Every blue box is a matrix product with weights.",
        "One layer. Blue boxes are weights, and each is one matrix product; H heads of width d, G "
        "heads for keys and values. What the blocks compute is added to the stream.",
        270,
        tuple(shapes),
    )
