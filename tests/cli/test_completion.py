"""What a shell completes: tried in bash itself, and by syntax where there is no other shell."""

from __future__ import annotations

import shutil
import subprocess
from typing import Any

import pytest

from flopbook.cli.plain import PLAIN
from flopbook.data.library import model_ids
from flopbook.formulas import CATALOGUE, get_formula

BASH = shutil.which("bash")
TYPED = {
    "": {*CATALOGUE, *PLAIN, "--help", "--version"},
    "kv": {"kv-cache"},
    "memory --zer": {"--zero"},
    "memory --model llama-3-70": {"llama-3-70b"},
    "decode --chip h100-s": {"h100-sxm"},
    "show tpu-v5e": {"tpu-v5e", "tpu-v5e-pod"},
    "nothing --": set(),
}


@pytest.mark.skipif(BASH is None, reason="no bash on this machine")
@pytest.mark.parametrize(("typed", "offered"), TYPED.items(), ids=TYPED)
def test_bash_offers_what_may_follow(typed: str, offered: set[str], cli: Any) -> None:
    script = cli("--completion", "bash").out
    words = ["flopbook", *typed.split(" ")]
    listed = " ".join(f"'{word}'" for word in words)
    asked = f"COMP_WORDS=({listed}); COMP_CWORD={len(words) - 1}; _flopbook"
    program = f"{script}\n{asked}\nprintf '%s\\n' \"${{COMPREPLY[@]}}\""
    assert BASH is not None
    done = subprocess.run(
        [BASH, "--norc", "-c", program], capture_output=True, text=True, check=True
    )
    assert set(done.stdout.split()) == offered


def test_every_shell_has_every_command_and_option(cli: Any) -> None:
    for shell, dashes in (("bash", "--"), ("zsh", "--"), ("fish", "-l ")):
        script = cli("--completion", shell).out
        for name in (*CATALOGUE, *PLAIN):
            assert name in script
        for option in get_formula("memory").inputs:
            assert f"{dashes}{option.replace('_', '-')}" in script
        assert all(model in script for model in model_ids())


@pytest.mark.parametrize("words", [("--completion",), ("--completion", "powershell")])
def test_a_shell_that_we_have_none_for_is_refused(words: tuple[str, ...], cli: Any) -> None:
    outcome = cli(*words)
    assert outcome.status == 2 and "one of: bash, zsh, fish" in outcome.err
