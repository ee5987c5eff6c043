"""The command ``tmux-wait``: which subcommand is meant, and nothing that another one needs.

A subcommand's module is imported when its name is given: ``tmux-wait for`` must start in a
fraction of the time that an MCP server takes.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Sequence

from tmux_wait.cli.output import complain, print_text
from tmux_wait.cli.status import Status

# name: (module with `run(arguments) -> int`, what it does)
COMMANDS = {
    "for": ("tmux_wait.cli.wait_text", "wait until a pane says something"),
    "mcp": ("tmux_wait.cli.mcp", "serve the same to agents, over MCP on stdin and stdout"),
}

_HELP = """\
usage: tmux-wait COMMAND [ARGUMENT…]

Waits until a tmux pane says something, and says how the wait ended.

commands:
{commands}

  tmux-wait COMMAND --help   what a command does, and its options
  tmux-wait --version        the version
"""


def main(argv: Sequence[str] | None = None) -> int:
    """Run one subcommand and return the exit status; ``argv`` is without the program's name."""
    if argv is None:
        _die_quietly()
    arguments = list(sys.argv[1:] if argv is None else argv)
    if not arguments:
        complain(f"which command? One of: {', '.join(COMMANDS)} (tmux-wait --help says more)")
        return Status.USAGE
    first, *rest = arguments
    if first in ("-h", "--help"):
        print_text(_help())
        return Status.OK
    if first in ("-V", "--version"):
        from tmux_wait.cli.version import version

        print_text(f"tmux-wait {version()}")
        return Status.OK
    if first not in COMMANDS:
        complain(f"there is no command {first!r}; one of: {', '.join(COMMANDS)}")
        return Status.USAGE
    module = importlib.import_module(COMMANDS[first][0])
    return int(module.run(rest))


def _die_quietly() -> None:
    """Let a Ctrl-C end us without a traceback until a subcommand has something to clear up."""
    import signal

    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, signal.SIG_DFL)


def _help() -> str:
    rows = (f"  {name:<8}{what}" for name, (_, what) in COMMANDS.items())
    return _HELP.format(commands="\n".join(rows)).rstrip()
