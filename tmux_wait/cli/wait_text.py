"""``tmux-wait for``: wait until a pane says something, and tell a shell how that ended."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from tmux_wait.cli import signals
from tmux_wait.cli.options import Parser, add_server_options, keys, seconds, text
from tmux_wait.cli.output import complain, print_text
from tmux_wait.cli.status import Status
from tmux_wait.results import BACKENDS

if TYPE_CHECKING:
    from tmux_wait.results import WaitResult

COMMAND = "for"
DEFAULT_SECONDS = 30.0

_USAGE = "PANE [PATTERN…] [OPTION…]"

_DESCRIPTION = """\
Wait until PANE writes one of the PATTERNs, and print the line that has it.

PANE is a pane id (%3) or any target that tmux knows. A PATTERN is literal text, or with --regex
a regular expression (RE2 syntax) for one line; case does not matter unless --match-case is given.
Without PATTERN, anything visible that the pane writes ends the wait.

What ends the wait: a PATTERN in what the pane writes from now on, or on a finished line that is
already on its screen (not with --fresh or --send); a --stop pattern in what it writes; the pane's
end; the time. Text that we type with --send is never taken for an answer.
"""

_EPILOG = """\
The line that ended the wait goes to stdout, everything else to stderr.

exit status:
    0  matched, or already on the screen, or pending and --accept-pending given
    1  any other error
    2  wrong usage, a PATTERN that does not compile among it
    3  a --stop pattern came first
    4  the pane closed
    5  the pane lives, but its output could no longer be followed
    6  pending: the text stands on the line that the cursor is on, perhaps typed and not submitted
  124  the time was over
  130, 143, 129  ended by SIGINT, SIGTERM, SIGHUP

examples:
  tmux-wait for %1 passed failed --send 'make test' --seconds 600
  tmux-wait for %1 'server ready' --stop Traceback --stop FATAL
  tmux-wait for build:1.0 --regex 'port [0-9]+$' --json
  tmux-wait for %1 '$ ' --keys C-c
  tmux-wait for %1 --seconds none -- --a-pattern-that-begins-with-a-dash
  tmux-wait for %1 done --stop=-fatal
"""


_OPTIONS: dict[str, dict[str, Any]] = {
    "--stop": {
        "action": "append", "default": [], "type": text, "metavar": "PATTERN",
        "help": "end with status 3 when the pane writes this; may be given again",
    },
    "--regex": {"action": "store_true", "help": "patterns are regular expressions"},
    "--match-case": {"action": "store_true", "help": "upper and lower case differ"},
    "--seconds": {
        "type": seconds, "default": DEFAULT_SECONDS, "metavar": "N",
        "help": "how long at most, 0 for one look, 'none' for no bound (default: 30)",
    },
    "--fresh": {"action": "store_true", "help": "what is on the screen already does not count"},
    "--send": {
        "type": text, "metavar": "TEXT",
        "help": "type TEXT and Enter in the same step as the wait begins; implies --fresh",
    },
    "--keys": {
        "action": "append", "default": [], "type": keys, "metavar": "KEYS",
        "help": "press keys by their tmux names, separated by blanks ('C-c Up'), in that same"
        " step; with --send after the text and before Enter; may be given again",
    },
    "--accept-pending": {
        "action": "store_true",
        "help": "text on the cursor's own line is an answer too, unless we know it was typed",
    },
    "--json": {"action": "store_true", "help": "print all that is known about the end, as JSON"},
    "--backend": {
        "choices": BACKENDS, "default": "auto",
        "help": "how to listen: pipe-pane, capture-pane, or the best that is free",
    },
}  # fmt: skip


def run(arguments: Sequence[str]) -> int:
    """Wait as the arguments say, print how it ended, and return the exit status for it."""
    options, (pane, *patterns) = _parse(arguments)
    with signals.raised():
        # Imported here: nobody pays for the engine who only asked for help.
        from tmux_wait.blocking import wait_for_text
        from tmux_wait.errors import TmuxWaitError, UsageError

        try:
            result = wait_for_text(
                pane,
                patterns,
                stop=options.stop,
                regex=options.regex,
                match_case=options.match_case,
                seconds=options.seconds,
                fresh=options.fresh,
                send=options.send,
                keys=[key for group in options.keys for key in group],
                pending="accept" if options.accept_pending else "report",
                socket_name=options.socket_name,
                socket_path=options.socket_path,
                tmux=options.tmux,
                backend=options.backend,
            )
        except UsageError as error:
            complain(str(error), COMMAND)
            return Status.USAGE
        except TmuxWaitError as error:
            complain(str(error), COMMAND)
            return Status.ERROR
        return _tell(result, options)


def _parse(arguments: Sequence[str]) -> tuple[argparse.Namespace, list[str]]:
    parser = _parser()
    options, operands = parser.parse(arguments)
    if not operands or not operands[0]:
        parser.error("PANE is missing: a pane id such as %3, or another tmux target")
    return options, operands


def _parser() -> Parser:
    parser = Parser(COMMAND, _USAGE, _DESCRIPTION, _EPILOG)
    for names, settings in _OPTIONS.items():
        parser.add_argument(names, **settings)
    add_server_options(parser)
    return parser


def _tell(result: WaitResult, options: argparse.Namespace) -> int:
    from tmux_wait.cli.outcome import advice, as_json, status
    from tmux_wait.sentences import notes, sentence

    found = status(result)
    try:
        if options.json:
            print_text(as_json(result))
        elif result.matched_line is not None and found in (Status.OK, Status.STOPPED):
            print_text(result.matched_line)
    except OSError as error:
        complain(f"cannot write to stdout: {error.strerror}", COMMAND)
        found = Status.ERROR
    on_stdout = found in (Status.OK, Status.STOPPED)
    for said in [sentence(result, line=not on_stdout), *notes(result), *advice(result, options)]:
        complain(said, COMMAND)
    return found
