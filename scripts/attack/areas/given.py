"""Files that commands are given: configs of models, files of runs, filled sheets of audits.

They come from anywhere. Whatever is in them, a command answers with numbers that can be, or says
in lines what is wrong with which file, soon.
"""

from __future__ import annotations

import csv
import io
import json
import os
import random
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import yaml

from flopbook.checks.audit import VERDICTS, drawn, sheet
from scripts.attack.broken import broken, odd_record, yaml_of
from scripts.attack.campaign import Attempt, Campaign
from scripts.attack.checkout import ROOT, RUNS
from scripts.attack.shell import SECRET, fault_of

NAME = "given"
_FILES = 400  # of each kind
_RUN = ("--chip", "h100-sxm", "--chips", "8", "--batch-tokens", "1Mi", "--seq", "8192")
_STEP = ("predict", "--model", "llama-3-8b", *_RUN, "--stack", "megatron-core", "--json")
_SIZED = {
    "hidden_size": 4096,
    "intermediate_size": 11008,
    "num_attention_heads": 32,
    "num_hidden_layers": 32,
    "num_key_value_heads": 8,
    "vocab_size": 32000,
}
_CONFIGS: tuple[dict[str, Any], ...] = (
    {"model_type": "llama", **_SIZED, "tie_word_embeddings": False, "rope_scaling": {"factor": 8}},
    {
        "model_type": "mixtral",
        **_SIZED,
        **{"num_local_experts": 8, "num_experts_per_tok": 2, "sliding_window": 4096},
    },
    {
        "model_type": "deepseek_v3",
        **_SIZED,
        **{"n_routed_experts": 64, "num_experts_per_tok": 4, "moe_intermediate_size": 1024},
        **{"n_shared_experts": 1, "first_k_dense_replace": 3, "kv_lora_rank": 512},
        **{"q_lora_rank": 1536, "qk_nope_head_dim": 128, "qk_rope_head_dim": 64},
        **{"v_head_dim": 128, "quantization_config": {"quant_method": "fp8", "bits": 8}},
    },
    {
        "model_type": "gemma3",
        "text_config": {**_SIZED, "head_dim": 256, "layer_types": ["full_attention"] * 32},
        "torch_dtype": "bfloat16",
    },
)


class _Kind(NamedTuple):
    """A kind of file: its end, sound ones of it, and the commands that read it."""

    suffix: str
    samples: tuple[bytes, ...]
    commands: tuple[Callable[[str], tuple[str, ...]], ...]
    odd: Callable[[bytes, random.Random], bytes]


def attack(campaign: Campaign) -> Iterator[Attempt]:
    """Broken files of each kind, and what is no file at all."""
    secret = campaign.folder / "secret"
    secret.write_text(f"{SECRET}\n", encoding="utf-8")
    for kind in _kinds():
        path = campaign.folder / f"given{kind.suffix}"
        for _ in range(campaign.count(_FILES)):
            content, rng = campaign.rng.choice(kind.samples), campaign.rng
            way, made = "odd values", kind.odd(content, rng)
            if rng.random() < 0.5:
                way, made = broken(content, rng)
            path.write_bytes(made)
            command = rng.choice(kind.commands)(str(path))
            yield Attempt(f"{way}: {' '.join(command)}: {made[:2000]!r}", fault_of(*command))
        for command in (ask(str(path)) for ask in kind.commands):
            yield from _no_files(path, secret, command)


def _no_files(path: Path, secret: Path, command: tuple[str, ...]) -> Iterator[Attempt]:
    """What stands where a file should; none of it is waited for."""
    makes: dict[str, Callable[[], object]] = {
        "a folder": path.mkdir,
        "a pipe": lambda: os.mkfifo(path),
        "a device": lambda: path.symlink_to("/dev/zero"),
        "a circle of links": lambda: path.symlink_to(path),
        "a secret": lambda: path.symlink_to(secret),
        "nothing": lambda: None,
        "no bytes": lambda: path.write_bytes(b""),
        "too much": lambda: os.truncate(os.open(path, os.O_CREAT | os.O_WRONLY), 2**40),
    }
    for name, make in makes.items():
        _remove(path)
        make()
        allowed = name == "a secret"  # who names a link on the command line means what it leads to
        yield Attempt(f"{name}: {' '.join(command)}", "" if allowed else fault_of(*command))
    _remove(path)


def _remove(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        path.rmdir()
    else:
        path.unlink(missing_ok=True)


def _kinds() -> tuple[_Kind, ...]:
    configs = tuple(json.dumps(config, indent=1).encode() for config in _CONFIGS)
    runs = tuple((ROOT / "calculators" / "runs" / f"{name}.yaml").read_bytes() for name in RUNS)
    return (
        _Kind(
            ".json",
            configs,
            (
                lambda path: ("params", "--config", path, "--json"),
                lambda path: ("kv-cache", "--config", path, "--seq", "4096", "--json"),
                lambda path: (*_STEP[:1], "--config", path, *_STEP[3:]),
            ),
            lambda content, rng: json.dumps(odd_record(json.loads(content), rng)).encode(),
        ),
        _Kind(
            ".yaml",
            runs,
            (
                lambda path: ("validate", path, "--json"),
                lambda path: ("validate", path, "--calibrate", path, "--json"),
                lambda path: (*_STEP, "--calibrate", path),
            ),
            lambda content, rng: yaml_of(odd_record(yaml.safe_load(content), rng)),
        ),
        _Kind(
            ".csv", (_filled(),), (lambda path: ("audit", "--score", path, "--json"),), _odd_rows
        ),
    )


def _filled() -> bytes:
    """A sheet of an audit with a verdict in each row."""
    rows = list(csv.reader(io.StringIO(sheet(drawn(5, 1)))))
    place = rows[0].index("verdict")
    for number, row in enumerate(rows[1:]):
        row[place] = VERDICTS[number % len(VERDICTS)]
    return _csv(rows)


def _odd_rows(content: bytes, rng: random.Random) -> bytes:
    rows = list(csv.reader(io.StringIO(content.decode("utf-8"))))
    return _csv(odd_record(rows, rng))


def _csv(rows: Any) -> bytes:
    text = io.StringIO()
    writer = csv.writer(text)
    for row in rows if isinstance(rows, list) else [rows]:
        writer.writerow(row if isinstance(row, list) else [row])
    return text.getvalue().encode("utf-8", errors="surrogatepass")
