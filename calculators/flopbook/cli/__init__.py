"""The command line: parse, call, print.

Exit status 0 fine, 1 a check found problems, 2 bad usage or input, 130 and 143 stopped by SIGINT
and SIGTERM.
"""

from __future__ import annotations

import os
import sys


def main() -> None:
    """Entry point of the `flopbook` command."""
    import gc

    gc.disable()  # a command is over before collecting garbage would pay
    from flopbook.cli.app import run
    from flopbook.cli.stopping import stop_in_order

    stop_in_order()
    for stream in (sys.stdout, sys.stderr):
        # A terminal that cannot show a letter gets an escape, not a traceback. Streams may be
        # closed (None), or replaced by something that is no text file.
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")
    status = run(sys.argv[1:])
    # Only a command that looked something up has this module, and digests to keep.
    if module := sys.modules.get("flopbook.data.digests"):
        module.digests().close()
    if sys.stderr is not None:
        sys.stderr.flush()
    # All output is out and nothing is left to close: taking the interpreter apart would cost a
    # tenth of the time.
    os._exit(status)
