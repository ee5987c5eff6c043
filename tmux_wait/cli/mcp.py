"""``tmux-wait mcp``: serve the waits to an agent, over MCP on stdin and stdout."""

from __future__ import annotations

import argparse
import gc
import sys
from collections.abc import Sequence

from tmux_wait.cli.options import Parser, add_server_options
from tmux_wait.cli.output import complain
from tmux_wait.cli.signals import ENDING

COMMAND = "mcp"

_DESCRIPTION = """\
Serve MCP (Model Context Protocol) on stdin and stdout, until the client closes stdin.

An MCP client starts this command; there is nothing to type into it. The tools it offers work on
one tmux server, which need not run yet.
"""

_EPILOG = """\
client configuration:
  {"mcpServers": {"tmux-wait": {"command": "tmux-wait", "args": ["mcp", "-L", "NAME"]}}}

without -L and -S: the server that $TMUX names, else tmux's default one.
"""


def run(arguments: Sequence[str]) -> int:
    """Serve until the client goes or a signal comes; return the exit status."""
    from tmux_wait.mcp.contract import CONTRACTS, DEFAULT_CONTRACT

    parser = Parser(COMMAND, "[OPTION…]", _DESCRIPTION, _EPILOG)
    parser.add_argument(
        "--contract",
        choices=tuple(CONTRACTS),
        default=DEFAULT_CONTRACT,
        help=f"whose tools to offer (default: {DEFAULT_CONTRACT})",
    )
    add_server_options(parser)
    options, operands = parser.parse(arguments)
    if operands:
        parser.error(f"{operands[0]!r} is not an option")
    if sys.stdin is None or sys.stdout is None:
        parser.error("stdin and stdout must be open: MCP is spoken there")
    if sys.stdin.isatty():
        complain("waiting for an MCP client on stdin (end with Ctrl-D)", COMMAND)
    return _serve(options)


def _serve(options: argparse.Namespace) -> int:
    # What is imported here stays: collecting garbage meanwhile finds none and takes an eighth of
    # the start, and going through all of it again at any time would hold up an answer.
    gc.disable()
    from tmux_wait.cli.version import version
    from tmux_wait.mcp.contract import load
    from tmux_wait.mcp.serve import Settings, run

    settings = Settings(
        contract=load(options.contract),
        version=version(),
        socket_name=options.socket_name,
        socket_path=options.socket_path,
        tmux=options.tmux,
        ending=ENDING,
    )
    gc.freeze()
    gc.enable()
    return run(settings)
