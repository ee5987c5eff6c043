"""Ask tmux what became of a pane, and close our pipe on it."""

from __future__ import annotations

from dataclasses import dataclass

from tmux_wait.drive import Driver
from tmux_wait.errors import NoServerError
from tmux_wait.process import is_tmux
from tmux_wait.tmux import Tmux

ENDING_TIME = 1.0  # seconds that a server may take to end
FIELDS = "#{pane_id}|#{pid}|#{pane_dead}|#{pane_pid}|#{pane_pipe}|#{pane_width}|#{pane_tty}"


@dataclass(frozen=True, slots=True)
class PaneState:
    """A pane that is still there."""

    dead: bool
    pid: int  # of its process; 0: 3.8 knows that it has ended, the pane not being dead yet
    piped: bool
    width: int
    tty: str


async def ask_state(
    driver: Driver, tmux: Tmux, pane: str, server_pid: int, until: float | None
) -> PaneState | None:
    """Return the state of ``pane``; None if it, or its server, is no more.

    Raises what `Tmux.run` does; `NoServerError` only if the server lives and cannot be reached.
    """
    limit = driver.now() + tmux.patience if until is None else until
    try:
        reply = await tmux.run(driver, [["display-message", "-p", "-t", pane, FIELDS]], until=limit)
    except NoServerError:
        if await lives_on(driver, server_pid):
            raise
        return None
    return None if reply.status else read_state(reply.out.decode(), pane, server_pid)


async def lives_on(driver: Driver, server_pid: int) -> bool:
    """Say whether a server that answers no more lives: somebody removed its socket.

    An ending server closes its socket a little before it has ended, so that is waited for.
    """
    limit = driver.now() + ENDING_TIME
    while is_tmux(server_pid):
        if driver.now() > limit:
            return True
        await driver.wait((), driver.now() + 0.01)
    return False


def read_state(answer: str, pane: str, server_pid: int) -> PaneState | None:
    """Read tmux's answer to `FIELDS`; None if it is not about this pane of this server.

    Another server may have come to the same socket; its panes begin at %0 again.
    """
    fields = answer.strip().split("|")
    if fields[:2] != [pane, str(server_pid)]:
        return None
    _, _, dead, pid, piped, width, tty = fields
    return PaneState(dead == "1", int(pid or 0), piped == "1", int(width), tty)


async def close_pipe(
    driver: Driver, tmux: Tmux, pane: str, server_pid: int | None, pipe_pid: int | None
) -> bool:
    """Close the pipe of ``pane`` if it is that of ``pipe_pid``, decided inside the server.

    Before 3.7 tmux does not tell one pipe from another; the caller has looked that ours is there.
    False: tmux refuses, as 3.3a to 3.7c do for a dead pane, whose pipe they keep all the same.
    """
    same_pipe = f"#{{==:#{{pane_pipe_pid}},{pipe_pid}}}" if pipe_pid else "#{pane_pipe}"
    same_server = f"#{{==:#{{pid}},{server_pid}}}" if server_pid else "1"
    guard = f"#{{&&:{same_server},{same_pipe}}}"
    command = ["if-shell", "-F", "-t", pane, guard, f"pipe-pane -t {pane}"]
    try:
        return (await tmux.run(driver, [command], until=driver.now())).status == 0
    except NoServerError:
        return True
