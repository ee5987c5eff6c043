"""The options that subcommands share, and how a bad one is answered: in one sentence, status 2."""

from __future__ import annotations

import argparse
import math
from collections.abc import Sequence
from typing import NoReturn

from tmux_wait.cli.output import complain, print_text
from tmux_wait.cli.status import Status


class Parser(argparse.ArgumentParser):
    """An argument parser that takes options and operands in any order."""

    def __init__(self, command: str, usage: str, description: str, epilog: str) -> None:
        super().__init__(
            prog=f"tmux-wait {command}",
            usage=f"tmux-wait {command} {usage}",
            description=description,
            epilog=epilog,
            formatter_class=argparse.RawDescriptionHelpFormatter,
            allow_abbrev=False,  # an abbreviation would end with the next option of ours
        )
        self._command = command

    def parse(self, arguments: Sequence[str]) -> tuple[argparse.Namespace, list[str]]:
        """Return the options and the operands; after ``--`` everything is an operand."""
        ahead = list(arguments)
        behind: list[str] = []
        if "--" in ahead:
            cut = ahead.index("--")
            ahead, behind = ahead[:cut], ahead[cut + 1 :]
        self.add_argument("operands", nargs="*", help=argparse.SUPPRESS)
        options = self.parse_intermixed_args(ahead)
        return options, [self._operand(word) for word in [*options.operands, *behind]]

    def _operand(self, word: str) -> str:
        try:
            return text(word)
        except argparse.ArgumentTypeError as error:
            self.error(str(error))

    def _get_values(self, action: argparse.Action, arg_strings: list[str]) -> object:
        # Before Python 3.13 an option whose value is "--" (`--send=--`) would get no value.
        if action.option_strings and arg_strings == ["--"]:
            return self._get_value(action, "--")
        return super()._get_values(action, arg_strings)

    def print_help(self, file: object = None) -> None:
        """Print the help where results go, so that a pager that closes early is no error."""
        print_text(self.format_help().rstrip())

    def error(self, message: str) -> NoReturn:
        """Say what is wrong in one line and leave with the status for it."""
        complain(f"{message} (tmux-wait {self._command} --help says more)", self._command)
        raise SystemExit(int(Status.USAGE))


def add_server_options(parser: argparse.ArgumentParser) -> None:
    """Add ``-L``, ``-S`` and ``--tmux``: which tmux server, and with which program."""
    where = parser.add_mutually_exclusive_group()
    where.add_argument(
        "-L", dest="socket_name", metavar="NAME", type=text, help="name of the server's socket"
    )
    where.add_argument(
        "-S", dest="socket_path", metavar="PATH", type=text, help="path of the server's socket"
    )
    parser.add_argument(
        "--tmux", default="tmux", metavar="BIN", type=text, help="the tmux program (default: tmux)"
    )


def seconds(word: str) -> float | None:
    """Read a time bound: a finite number that is not negative, or ``none``."""
    if word == "none":
        return None
    try:
        value = float(word)
    except ValueError:
        value = math.nan
    if not (math.isfinite(value) and value >= 0):
        raise argparse.ArgumentTypeError(f"{word!r} is neither a number from 0 on nor 'none'")
    return value


def text(word: str) -> str:
    """Refuse an argument that is not valid UTF-8: no pane could ever show it."""
    try:
        word.encode()
    except UnicodeEncodeError:
        raise argparse.ArgumentTypeError(f"{word!r} is not valid UTF-8") from None
    return word


def keys(word: str) -> list[str]:
    """Split key names at blanks."""
    names = text(word).split()
    if not names:
        raise argparse.ArgumentTypeError("it names no key")
    return names
