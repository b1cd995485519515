"""The prediction for a row of a file of runs, in place of options."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from flopbook.data.library import library
from flopbook.data.runs import MeasuredRun, RunFile
from flopbook.errors import DataError, FlopbookError, UnknownName, printable, shorten
from flopbook.prediction.asking import prediction_of
from flopbook.prediction.bands import SOFTWARE
from flopbook.prediction.layouts import training_run
from flopbook.prediction.named_models import MODEL_SHAPE, with_kinds, with_shape
from flopbook.prediction.own_runs import read_own_runs
from flopbook.prediction.predicted import Prediction
from flopbook.prediction.stacks import OTHER

if TYPE_CHECKING:
    from flopbook.prediction.calibration import Calibration

OF_TRAINING = ("training_throughput", "training_memory")
MOST_NAMES = 5


def predict_row(
    asked: str, options: Mapping[str, str | None], calibration: Calibration | None = None
) -> Prediction:
    """The prediction for FILE or FILE:ROW, from what the row says of its run.

    Raises FlopbookError for a file or a row that is not there or not of training, DataError for one
    that cannot be read.
    """
    path, name = _place(asked)
    own = read_own_runs(path)
    wrong = [problem for row in own.unread if row.id == name for problem in row.problems]
    if wrong:
        raise DataError(wrong)
    row = _row(own.runs if name else own.whole(), path, name)
    if row.kind not in OF_TRAINING:
        raise FlopbookError(
            f"{printable(row.id)} is of the kind {row.kind}; --run takes runs of training, "
            f"flopbook validate {printable(path.name)} --rows takes all"
        )
    source = own.runs.sources[row.publication]
    row, is_named = with_shape(row)
    row = with_kinds(row)
    run = training_run(row, source.year, f"{source.title} {source.repo} {source.path}")
    inferred = [*run.inferred, *([MODEL_SHAPE] if is_named else [])]
    if run.stack == OTHER:
        inferred.append(SOFTWARE)
    model = str(row.model.get("name", ""))
    on_file = library().model_names.meant(model.strip()) or model
    return prediction_of(run._replace(inferred=tuple(inferred)), on_file, options, calibration)


def _place(asked: str) -> tuple[Path, str]:
    """The file and the id of a row; the id is empty where only a file is named."""
    if Path(asked).is_file():
        return Path(asked), ""
    file, _, name = asked.rpartition(":")
    if not Path(file).is_file() or not file:
        raise FlopbookError(f"no file '{printable(shorten(asked))}'; give a file of runs")
    return Path(file), name


def _row(runs: RunFile, path: Path, name: str) -> MeasuredRun:
    ids = [row.id for row in runs.rows]
    if name and name not in ids:
        raise UnknownName("row", name, ids)
    if name or len(ids) == 1:
        return runs.rows[ids.index(name) if name else 0]
    if not ids:
        raise FlopbookError(f"{printable(path.name)} has no row that can be read")
    some = ", ".join(map(printable, ids[:MOST_NAMES]))
    more = ", ..." if len(ids) > MOST_NAMES else ""
    raise FlopbookError(
        f"{printable(path.name)} has {len(ids)} rows; name one as --run FILE:ROW: {some}{more}"
    )
