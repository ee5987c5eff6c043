"""Where a command's words go: results to stdout, all else to stderr, and neither may fail loudly.

Results are written as UTF-8 whatever the locale says, since that is what tmux gave us. A reader
that has gone away is not our error: the exit status still tells how the wait ended.
"""

from __future__ import annotations

import os
import sys
from typing import TextIO


def print_text(text: str) -> None:
    """Write one result and a line feed to stdout.

    Raises:
        OSError: stdout cannot take it, for another reason than a reader that has gone.
    """
    if sys.stdout is None:  # started with a closed stdout
        return
    try:
        # The text layer is empty here: everything of ours goes through this function.
        sys.stdout.buffer.write(text.encode("utf-8", "replace") + b"\n")
        sys.stdout.buffer.flush()
    except BrokenPipeError:
        _silence(sys.stdout)
    except OSError:
        _silence(sys.stdout)
        raise


def complain(text: str, command: str = "") -> None:
    """Write one line to stderr, with our name before it."""
    if sys.stderr is None:
        return
    name = f"tmux-wait {command}".rstrip()
    try:
        sys.stderr.write(f"{name}: {text}\n")
        sys.stderr.flush()
    except OSError:
        _silence(sys.stderr)


def _silence(stream: TextIO) -> None:
    # The interpreter flushes once more at exit, and would print a traceback of its own.
    try:
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, stream.fileno())
        os.close(nowhere)
    except OSError:
        pass
