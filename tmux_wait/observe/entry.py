"""The pane at the cut: the commands that read it in one dispatch, and what they answered.

One tmux server is one thread that reads panes only between command queues, so everything in one
dispatch sees the same moment. The state comes first and each part begins with a line that holds
a fresh random token: whatever a pane shows cannot be taken for ours.
"""

from __future__ import annotations

import os
from dataclasses import dataclass, field

from tmux_wait.errors import PaneBusyError, PaneNotFoundError, TmuxWaitError
from tmux_wait.observe.rows import LogicalRow, join_rows, locate_cursor, without_banner
from tmux_wait.observe.typing import BUSY_FIELDS, CANNOT_TYPE, Typing, command_text, typing_commands
from tmux_wait.tmux import Reply

# History rows captured above the screen: the head of a wrapped line whose tail is on the screen,
# and what tmux's "Pane is dead" banner pushed off (four rows of it fit a pane 11 cells wide).
LOOKBACK = 4

STATE_FIELDS = (
    "pane_id", "pid", "version", "pane_pid", "pane_width", "pane_height", "history_size",
    "pane_dead", "pane_dead_status", "pane_in_mode", "pane_input_off", "alternate_on",
    "pane_pipe", "cursor_x", "cursor_y", "history_limit", "session_id", "pane_tty",
)  # fmt: skip
STATE = "|".join(f"#{{{name}}}" for name in STATE_FIELDS)


@dataclass(frozen=True, slots=True)
class Entry:
    """The pane at the cut: all that it wrote before, as its screen shows it."""

    pane: str  # "%3"
    server_pid: int
    server_version: str
    pane_pid: int  # 0 where tmux does not say (a dead pane on 3.8)
    width: int
    height: int
    history_size: int
    dead: bool
    dead_status: int | None
    in_mode: bool
    alternate: bool
    piped: bool  # somebody else's pipe was there
    # Logical rows of the screen, soft wraps joined, trailing blanks removed; for a dead pane
    # without tmux's "Pane is dead" banner and with the rows that the banner pushed off.
    rows: tuple[str, ...]
    cursor_row: int  # index in rows; all the others are completed lines
    cursor_cell: int  # cells from the start of that logical row; may lie beyond its text
    session: str = ""  # "$2": one that shows the pane
    tty: str = ""  # "/dev/pts/5", as the server sees it


@dataclass(frozen=True, slots=True)
class Snapshot:
    """One answered dispatch: the entry, where its rows stand, and whose pipe is open."""

    entry: Entry
    captured: tuple[LogicalRow, ...]  # history rows among them
    history_limit: int
    pipe_pid: int | None  # of the pipe as the dispatch left it; tmux 3.7 and newer


@dataclass(frozen=True, slots=True)
class Look:
    """A dispatch that reads one pane, and optionally opens a pipe and types; see `commands`."""

    pane: str
    lookback: int = LOOKBACK
    pipe: str | None = None  # the command that opens our pipe, as tmux parses it
    guard: str = CANNOT_TYPE  # a format; nothing is opened or typed where it is true
    typing: Typing | None = None
    token: str = field(default_factory=lambda: os.urandom(8).hex())

    def commands(self) -> list[list[str]]:
        """Return the commands: state; pipe, captures, typing; a last word.

        The guard is asked once, for the pipe and the typing alike: our own pipe would change it.
        Where it holds and something should be typed, nothing but the state is asked for: the
        same typing may follow in a dispatch without a pipe.
        """
        say = ["display-message", "-p", "-t", self.pane]
        captures = self._captures(say)
        typed = typing_commands(self.typing, self.pane) if self.typing else []
        if self.pipe is not None or typed:
            pipe = [self.pipe] if self.pipe is not None else []
            seen = [command_text(command) for command in captures]
            guarded = ["if-shell", "-F", "-t", self.pane, self.guard]
            blocked = "" if typed else " ; ".join(seen)
            captures = [[*guarded, blocked, " ; ".join([*pipe, *seen, *typed])]]
        state = [*say, f"{self.token} {STATE}"]
        return [state, *captures, [*say, f"{self.token} #{{pane_pipe_pid}}"]]

    def _captures(self, say: list[str]) -> list[list[str]]:
        capture = ["capture-pane", "-p", "-t", self.pane, "-S", f"-{self.lookback}"]
        return [
            [*say, f"{self.token} #{{E:remain-on-exit-format}}"],
            capture,
            [*say, self.token],
            [*capture, "-J"],
        ]

    def read(self, reply: Reply) -> Snapshot:
        """Turn the reply into a snapshot, without rows if the guard held back the typing.

        Raises `PaneNotFoundError`, `PaneBusyError`, and `TmuxWaitError` with tmux's own words.
        """
        parts = reply.out.decode(errors="replace").split(self.token)[1:]
        state = _read_state(parts[0]) if parts else {}
        if not state.get("pane_id"):
            if reply.status and "can't find" not in reply.err:
                raise TmuxWaitError(f"tmux does not show pane {self.pane}: {reply.err}")
            raise PaneNotFoundError(self.pane)
        if self.typing is not None:
            _refuse_if_busy(state)
        if len(parts) == 2 and not reply.status:
            parts[1:1] = ["", ""]
        if len(parts) != 4 or reply.status:
            raise TmuxWaitError(f"tmux does not do what was asked of {self.pane}: {reply.err}")
        return _snapshot(state, parts[1], parts[2], parts[3])


def _read_state(text: str) -> dict[str, str]:
    return dict(zip(STATE_FIELDS, text.strip().split("|"), strict=False))


def _refuse_if_busy(state: dict[str, str]) -> None:
    words = ("the pane is dead", "the pane is in a mode (copy mode)", "the pane's input is off")
    for name, reason in zip(BUSY_FIELDS, words, strict=True):
        if state[name] not in ("", "0"):
            raise PaneBusyError(state["pane_id"], reason)


def _captured(text: str) -> list[str]:
    return text.split("\n")[:-1]


def _snapshot(state: dict[str, str], plain: str, joined: str, last: str) -> Snapshot:
    number = {name: int(value) if value.isdecimal() else 0 for name, value in state.items()}
    banner, _, plain = plain.partition("\n")
    physical = _captured(plain)
    top = number["history_size"]
    first = top - max(0, len(physical) - number["pane_height"])
    rows = join_rows(physical, _captured(joined.partition("\n")[2]), number["pane_width"], first)
    cursor = top + number["cursor_y"]
    if number["pane_dead"]:
        rows, top = without_banner(rows, top, banner.strip())
    visible = [row for row in rows if row.index + row.height > top]
    cursor_row, cursor_cell = locate_cursor(visible, cursor, number["cursor_x"])
    entry = Entry(
        pane=state["pane_id"],
        server_pid=number["pid"],
        server_version=state["version"],
        pane_pid=number["pane_pid"],
        width=number["pane_width"],
        height=number["pane_height"],
        history_size=number["history_size"],
        dead=bool(number["pane_dead"]),
        dead_status=number["pane_dead_status"] if state["pane_dead_status"] else None,
        in_mode=bool(number["pane_in_mode"]),
        alternate=bool(number["alternate_on"]),
        piped=bool(number["pane_pipe"]),
        rows=tuple(row.text for row in visible),
        cursor_row=cursor_row,
        cursor_cell=cursor_cell,
        session=state["session_id"],
        tty=state["pane_tty"],
    )
    pipe_pid = int(last) if last.strip().isdecimal() else None
    return Snapshot(entry, tuple(rows), number["history_limit"], pipe_pid)
