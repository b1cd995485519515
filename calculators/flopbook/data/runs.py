"""The reader of measured runs: a YAML file -> rows of what people reached, each with its source.

A file of `calculators/runs/` holds the rows of one publication. `read_run_file` reads any file of
the same layout, such as a user's own measurements. Names of fields carry their units.
"""

from __future__ import annotations

import datetime
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from flopbook.data.folders import schema_paths
from flopbook.errors import DataError, Problem, show_path

if TYPE_CHECKING:
    from flopbook.data.yaml_text import Node

Group = Mapping[str, Any]
NOTHING: Group = {}
GROUPS = ("model", "hardware", "parallelism", "run")
USES = ("fit", "check")
# What a row names as the origin of its shape where that is a file of ours; of it the id.
MODEL_FILE = re.compile(r"calculators/models/([\w./-]+?)\.yaml")
# A field this close to a known name is a slip of the keyboard; any other is one that we do not use.
_SLIP = 0.85
# What logs and other tools call a field of ours; it would count for nothing under their name.
ELSEWHERE = {
    theirs: ours
    for ours, names in {
        "seq_len_tokens": "seq seq_len seqlen seq_length sequence_length context_length",
        "n_chips": "chips gpus n_gpus num_gpus world_size devices",
        "zero_stage": "zero fsdp fsdp2",
        "vp": "vpp virtual virtual_pipeline_size",
        "micro_batch_seqs": "mbs micro_batch micro_batch_size",
        "global_batch_seqs": "gbs global_batch global_batch_size batch_size per_device_batch_size",
        "grad_accum": "ga gradient_accumulation gradient_accumulation_steps",
        "precision": "dtype format",
        "input_len_tokens": "isl input_len prompt_len",
        "output_len_tokens": "osl output_len answer_len",
        "tokens_per_s_per_chip": "tokens_per_s_per_gpu tokens_per_sec_per_gpu tps_per_gpu",
        "tokens_per_s": "tokens_per_sec tokens_per_second throughput tps",
        "model_tflops_per_s_per_chip": "tflops tflops_per_gpu model_tflops_per_gpu",
        "step_time_s": "step_time step_time_sec seconds_per_step",
        "mfu_pct": "mfu",
        "hfu_pct": "hfu",
        "ms_per_token": "tpot tpot_ms itl itl_ms",
        "first_token_latency_ms": "ttft ttft_ms",
        "peak_memory_gb": "memory_gb max_memory_gb",
        "busbw_gb_per_s": "busbw bus_bandwidth",
    }.items()
    for theirs in names.split()
}
# What else has to change where a name elsewhere counts something else than ours. MaxText's batch is
# that of a chip, so that the micro-batch of a replica holds it once for each of its chips
# (docs/reference/core_concepts/batch_size.md at 743295aa).
CONVERSIONS = {
    "per_device_batch_size": "give it times all chips, times the steps of gradient accumulation",
}


class RunSource(NamedTuple):
    """A publication of measured runs: its BibTeX key, and which work its utilisation counts."""

    source: str = ""
    as_of: datetime.date | None = None
    path: str = ""
    commit: str = ""
    flops_convention: str = ""
    flops_convention_code: str = "not_stated"
    note: str = ""
    year: int = 0
    title: str = ""
    repo: str = ""


class MeasuredRun(NamedTuple):
    """One measured run: what ran, on what, how it was divided, and what was reached.

    `publication` is the short name of its source, `where` the place in it. A row that is not
    `complete` lacks a part of its configuration.
    """

    id: str
    kind: str
    publication: str
    where: str
    measured: Group
    model: Group = NOTHING
    hardware: Group = NOTHING
    parallelism: Group = NOTHING
    run: Group = NOTHING
    complete: bool = True
    use: str = "check"
    group: str = ""
    flags: tuple[str, ...] = ()
    note: str = ""
    file: str = ""
    line: int = 1


class RunFile(NamedTuple):
    """The rows of a file and the publications that they name."""

    sources: Mapping[str, RunSource]
    rows: tuple[MeasuredRun, ...]


def read_run_file(path: Path) -> RunFile:
    """Read and check a file of measured runs. Raises DataError with all of its problems."""
    # Rows are mostly read from what was kept of them, and YAML takes longer to load than to ask.
    from flopbook.data.records import keep_fields, read_checked, with_dates
    from flopbook.data.schema import load_schema

    document, file = read_checked(path, "runs"), show_path(path)
    definitions = load_schema(schema_paths()["runs"])["$defs"]
    if problems := [*_misspelt(document, definitions, file), *_nowhere(document, file)]:
        raise DataError(problems)
    raw = with_dates(document.plain())
    sources = {name: keep_fields(RunSource, source) for name, source in raw["sources"].items()}
    use = raw.get("use", "check")
    nodes = document.value["rows"].value
    rows = tuple(
        _run(row, use, file, node.line) for row, node in zip(raw["rows"], nodes, strict=True)
    )
    return RunFile(sources, rows)


def _run(raw: Mapping[str, Any], use: str, file: str, line: int) -> MeasuredRun:
    groups = {name: raw.get(name, NOTHING) for name in GROUPS}
    return MeasuredRun(
        id=raw["id"],
        kind=raw["kind"],
        publication=raw["source"]["key"],
        where=raw["source"].get("where", ""),
        measured=raw["measured"],
        **groups,
        complete=raw.get("completeness", "full") == "full",
        use=use,
        group=raw.get("group", ""),
        flags=tuple(raw.get("flags", ())),
        note=raw.get("note", ""),
        file=file,
        line=line,
    )


def _misspelt(document: Node, definitions: Mapping[str, Any], file: str) -> Iterator[Problem]:
    """Fields that are almost the name of another: they would silently count for nothing."""
    for row in document.value["rows"].value:
        yield from slips(row, definitions["row"]["properties"], file)
        for name in (*GROUPS, "measured"):
            if name in row.value:
                known = definitions[name].get("properties", {})
                yield from slips(row.value[name], known, file)


def slips(node: Node, known: Mapping[str, Any], file: str) -> Iterator[Problem]:
    """Names of a mapping that are almost a known one, or that others have for one."""
    for name, (line, column) in (node.key_marks or {}).items():
        if name in known:
            continue
        import difflib  # only for a mistake

        nearest = difflib.get_close_matches(name, known, n=1, cutoff=_SLIP)
        meant = ELSEWHERE.get(name.lower()) or (nearest[0] if nearest else "")
        if meant:
            mend = CONVERSIONS.get(name.lower(), "mend the name of the field")
            yield Problem(file, line, column, "field", f"'{name}'", f"'{meant}'", mend)


def _nowhere(document: Node, file: str) -> Iterator[Problem]:
    """Rows of a publication that the file does not describe."""
    named = document.value["sources"].value
    for row in document.value["rows"].value:
        key = row.value["source"].value["key"]
        if key.value not in named:
            expected = f"one of {', '.join(sorted(named))}" if named else "a name under sources"
            mend = "describe the source at the top of the file"
            yield Problem(file, key.line, key.column, "source", f"'{key.value}'", expected, mend)


def record_of_run_file(runs: RunFile) -> list[Any]:
    """A file of runs as JSON holds it, to be kept: no file name, dates as numbers."""
    sources = {name: _record_of_source(source) for name, source in runs.sources.items()}
    return [sources, [list(row._replace(file="")) for row in runs.rows]]


def _record_of_source(source: RunSource) -> list[Any]:
    day = source.as_of and source.as_of.toordinal()
    return [source.source, day, *source[2:]]


def run_file_of_record(record: list[Any], file: str) -> RunFile:
    """The file of runs that `record_of_run_file` was given."""
    sources, rows = record
    return RunFile(
        {name: _source_of_record(fields) for name, fields in sources.items()},
        tuple(_row_of_record(fields, file) for fields in rows),
    )


def _source_of_record(fields: list[Any]) -> RunSource:
    key, day, *texts = fields
    return RunSource(key, None if day is None else datetime.date.fromordinal(day), *texts)


def _row_of_record(fields: list[Any], file: str) -> MeasuredRun:
    row = MeasuredRun(*fields)
    return row._replace(flags=tuple(row.flags), file=file)
