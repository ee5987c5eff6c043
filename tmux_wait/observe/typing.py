"""Type into a pane, literally, as the last step of the dispatch that makes the cut.

A command inside ``if-shell`` is one string that tmux parses (``cmd-parse.y``): between single
quotes nothing is special but the line feed, which we never put there.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from tmux_wait.errors import TmuxWaitError

# Nothing can be typed where one of these holds; each is asked in the server, before typing.
BUSY_FIELDS = ("pane_dead", "pane_in_mode", "pane_input_off")
CANNOT_TYPE = "#{||:#{pane_dead},#{||:#{pane_in_mode},#{pane_input_off}}}"

# Bytes of the commands that type; what remains of `MOST_ARGUMENT_BYTES` is for the cut itself.
MOST_TYPING_BYTES = 12_000


@dataclass(frozen=True, slots=True)
class Typing:
    """What to type: ``text`` literally (a line feed is an Enter), key names, then Enter."""

    text: str | None
    keys: tuple[str, ...] = ()
    enter: bool = True


def quoted(text: str) -> str:
    """Quote ``text`` as one word for tmux's command parser."""
    return "'" + text.replace("'", "'\\''") + "'"


def command_text(words: Sequence[str]) -> str:
    """Return one command as a text that tmux parses back into ``words``."""
    return " ".join(quoted(word) for word in words)


def typing_commands(typing: Typing, pane: str) -> list[str]:
    """Return the commands, as tmux parses them, that type ``typing`` into ``pane``.

    Raises `TmuxWaitError` for what cannot be typed: NUL, half a surrogate pair, too much.
    """
    text = typing.text or ""
    if "\0" in text or any("\0" in key for key in typing.keys):
        raise TmuxWaitError("a NUL character cannot be typed")
    if any("\n" in key for key in typing.keys):
        raise TmuxWaitError("a key name holds no line feed")
    lines = text.split("\n")
    steps: list[list[str]] = []
    for number, line in enumerate(lines):
        steps += [["-l", "-t", pane, "--", line]] if line else []
        steps += [["-t", pane, "Enter"]] if number < len(lines) - 1 else []
    if typing.keys:
        steps.append(["-t", pane, "--", *typing.keys])
    if typing.enter:
        steps.append(["-t", pane, "Enter"])
    return _checked([command_text(["send-keys", *step]) for step in steps])


def _checked(commands: list[str]) -> list[str]:
    try:
        size = sum(len(command.encode()) + len(" ; ") for command in commands)
    except UnicodeEncodeError:
        raise TmuxWaitError("a lone surrogate cannot be typed") from None
    if size > MOST_TYPING_BYTES:
        raise TmuxWaitError(
            f"too much to type at once: {size} bytes with quoting, the limit is {MOST_TYPING_BYTES}"
        )
    return commands
