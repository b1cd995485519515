"""Which layout trains a model fastest on a machine: plan."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from flopbook.cli.layout import print_json
from flopbook.cli.parser import Option
from flopbook.cli.plain import command
from flopbook.errors import FlopbookError

if TYPE_CHECKING:
    from flopbook.planning.planner import RunPlan

MOST_LISTED = 1000
MOST_PLANS = 16
# Options that only one of both kinds of plan takes.
_OF_TRAINING = (
    *("batch_tokens", "seq", "stack", "cp", "virtual", "schedule"),
    *("zero", "hsdp", "micro_batch", "recompute", "recompute_layers", "max_bytes", "max_seconds"),
    *("offload", "offload_activations", "network"),
)
_OF_SERVING = ("prompt", "answer", "pools", "max_first_token", "max_per_token")
_OPTIONS = (
    Option("--model", "model", "The model, such as llama-3-70b.", "NAME"),
    Option("--config", "config", "Its Hugging Face config.json, in place of --model.", "FILE"),
    Option("--chip", "chip", "The chip or system, such as h100-sxm.", "NAME"),
    Option("--chips", "chips", "Chips that train, or several counts: 256,512.", "COUNT"),
    Option("--batch-tokens", "batch_tokens", "Tokens of a step; 4Mi if open.", "COUNT"),
    Option("--batch", "batch", "Sequences of a step; with --serve: at once on a replica.", "COUNT"),
    Option("--seq", "seq", "Tokens of a sequence; 4,096 if open.", "COUNT"),
    Option("--dtype", "dtype", "Format of matrix products, or several: bf16,fp8.", "FORMAT"),
    Option("--stack", "stack", "Software, such as nemo@25.11 or torchtitan.", "NAME[@VERSION]"),
    Option("--network", "network", "A card for each chip: ndr, 400gbe, or 400Gb/s.", "NAME"),
    Option("--tp", "tp", "Search this tensor-parallel degree alone.", "COUNT"),
    Option("--pp", "pp", "This number of pipeline stages alone.", "COUNT"),
    Option("--cp", "cp", "This context-parallel degree alone.", "COUNT"),
    Option("--ep", "ep", "This expert-parallel degree alone.", "COUNT"),
    Option("--dp", "dp", "This data-parallel degree alone.", "COUNT"),
    Option("--virtual", "virtual", "This number of model chunks on a stage alone.", "COUNT"),
    Option("--schedule", "schedule", "This schedule alone; else 1f1b and interleaved.", "WORD"),
    Option("--zero", "zero", "This ZeRO stage alone, 0 to 3; 3 is FSDP.", "STAGE"),
    Option("--hsdp", "hsdp", "This number of HSDP groups alone, each with all states.", "COUNT"),
    Option("--micro-batch", "micro_batch", "This micro-batch alone, in sequences.", "COUNT"),
    Option("--recompute", "recompute", "This alone: none, selective, full.", "WORD"),
    Option("--recompute-layers", "recompute_layers", "Of a stage, with full.", "COUNT"),
    Option("--offload", "offload", "On the host, or several: no,optimizer,gradients.", "WORD"),
    Option("--offload-activations", "offload_activations", "On the host too: yes or no.", "WORD"),
    Option("--max-bytes", "max_bytes", "Memory of each chip that a layout may take.", "SIZE"),
    Option("--max-seconds", "max_seconds", "Longest step.", "TIME"),
    Option("--price", "price", "Price of a chip, such as 2USD/h.", "PRICE"),
    Option("--serve", "serve", "Plan answers instead: chips of a replica, sequences on it."),
    Option("--prompt", "prompt", "With --serve: tokens of a prompt; 1,024 if open.", "COUNT"),
    Option("--answer", "answer", "With --serve: tokens of an answer; 256 if open.", "COUNT"),
    Option("--pools", "pools", "With --serve: one pool of chips, or two for prompts.", "WORD"),
    Option("--max-first-token", "max_first_token", "Longest time to the first token.", "TIME"),
    Option("--max-per-token", "max_per_token", "Longest time for each further token.", "TIME"),
    Option("--top", "top", "Layouts to list; 10 if open.", "COUNT"),
    Option("--pareto", "pareto", "List those that no other beats in time, memory and cost."),
    Option("--flags", "flags", "In words of megatron, ...; vllm, sglang, trtllm.", "FRAMEWORK"),
    Option("--explain", "explain", "Print the parts of the best step, and all reasons."),
)


@command("plan", *_OPTIONS)
def plan_command(
    serve: bool, pareto: bool, explain: bool, as_json: bool, **options: str | None
) -> None:
    """Find the fastest layouts of a training run, out of all that exist and fit.
    Degrees that are given are kept, all others are searched.

    Times are those of flopbook predict for the same options, memory that of flopbook memory. With
    no layout that fits, the answer is the number of chips on which one does. With --serve, replicas
    answer prompts: those are best that write most tokens a second within the limits of latency.
    Their chips are divided by --tp, --pp, --dp (ranks of attention) and --ep (experts).

    The list has the best layout of each division into TP, PP, CP, EP and DP; --json ranks all
    layouts, so that its first often differ in chunks or ZeRO stage alone.

    Example: flopbook plan --model llama-3-70b --chip h100-sxm --chips 512 --batch-tokens 4Mi
    """
    from flopbook.planning.flags import FRAMEWORKS
    from flopbook.planning.planner import DEFAULT_TOP
    from flopbook.prediction.options import count_option, refuse, word_option

    top = count_option(options, "top") or DEFAULT_TOP
    if top > MOST_LISTED:
        raise FlopbookError(f"--top is {top:,}, expected at most {MOST_LISTED:,}")
    if serve:
        from flopbook.cli import plan_serving

        refuse(options, _OF_TRAINING, "is of training; leave it out with --serve")
        plan_serving.answer(options, top, as_json=as_json)
        return
    refuse(options, _OF_SERVING, "is of serving; give --serve too")
    framework = word_option(options, "flags", tuple(FRAMEWORKS))
    plans = _plans(options, top, pareto)
    if as_json:
        print_json(_records(plans, top, framework, with_front=pareto))
        return
    from flopbook.cli import plan_text

    if len(plans) > 1:
        print(plan_text.joint(plans, top) if pareto else plan_text.side_by_side(plans))
        return
    print(plan_text.answer(plans[0], top, is_explained=explain))
    if framework and plans[0].layouts:
        print("\n" + plan_text.in_words_of(framework, plans[0]))


def _plans(options: Mapping[str, str | None], top: int, pareto: bool) -> list[RunPlan]:
    """A plan for each count of chips, each format, and each part of the states on the host."""
    from flopbook.planning.impossible import check_exists
    from flopbook.planning.planner import plan
    from flopbook.planning.question import question_of

    counts = str(options.get("chips") or "").split(",")
    formats = str(options.get("dtype") or "bf16").split(",")
    places = str(options.get("offload") or "no").split(",")
    asked = list(itertools.product(counts, formats, places))
    if len(asked) > MOST_PLANS:
        raise FlopbookError(
            f"--chips, --dtype and --offload make {len(asked)} plans, expected at most {MOST_PLANS}"
        )
    questions = [
        question_of(
            {**options, "chips": count.strip(), "dtype": dtype.strip(), "offload": place.strip()}
        )
        for count, dtype, place in asked
    ]
    # The next layout, which the answer compares with the best, is there even if one is listed.
    plans = [plan(question, max(top, 2), with_front=pareto) for question in questions]
    # One of several plans may be of chips that nothing divides; the others answer.
    if len(plans) == 1:
        check_exists(plans[0])
    return plans


def _records(
    plans: Sequence[RunPlan], top: int, framework: str | None, *, with_front: bool
) -> dict[str, object]:
    """The plan as JSON has it; several as a list, with the front of all of them."""
    from flopbook.planning.comparing import joint_front

    if len(plans) == 1:
        return _record(plans[0], top, framework)
    answers = [{**_asked(run_plan), **_record(run_plan, top, framework)} for run_plan in plans]
    front = [{**_asked(choice.plan), **choice.layout._asdict()} for choice in joint_front(plans)]
    return {"answers": answers, **({"front": front} if with_front else {})}


def _asked(found: RunPlan) -> dict[str, object]:
    """What the plans of one command differ in."""
    question = found.question
    return {"chips": question.chips, "dtype": question.dtype, "offload": question.run.offload}


def _record(found: RunPlan, top: int, framework: str | None) -> dict[str, object]:
    from flopbook.planning.flags import flags_for
    from flopbook.planning.recomputing import recomputed_in_part

    record = found.record()
    part = recomputed_in_part(found)
    if part:
        record["some_layers"] = part.record()
    record["layouts"] = record["layouts"][:top]
    if found.question.price is not None:
        for layout in (*record["layouts"], *record.get("front", ())):
            layout["token_cost"] = found.question.token_cost(layout["seconds"])
    if framework and found.layouts:
        flags = flags_for(framework, found.question, found.layouts[0])
        record["flags"] = {"framework": framework, **flags._asdict()}
    return record
