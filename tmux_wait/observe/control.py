"""The control client as an ear: for a pane whose pipe is taken, on tmux 3.7 and newer.

It hears what the tap hears but for the last words: tmux drops what it has not yet passed on when
a pane goes. The screen at the end of the pane's process shows them where tmux still has it. Older
servers can be brought down by a control client that attaches (`is_safe`).

Up to 3.7c tmux does not survive ``respawn-pane`` on a pane from which a control client has had
output (its place in the output is not reset); other panes, being paused, may be respawned. Nobody
is exposed to that who did not ask for this ear (`survives_respawn`).
"""

from __future__ import annotations

from tmux_wait.drive import Driver
from tmux_wait.errors import TmuxTimeoutError, TmuxWaitError
from tmux_wait.observe import at_exit
from tmux_wait.observe.ask import FIELDS, ask_state, read_state
from tmux_wait.observe.control_client import Answer, ControlClient
from tmux_wait.observe.ending import Ending
from tmux_wait.observe.entry import LOOKBACK, Entry, Look, Snapshot
from tmux_wait.observe.looks import Looks
from tmux_wait.observe.protocol import Data, Ended, EndReason, Rows
from tmux_wait.observe.typing import Typing
from tmux_wait.stream import Notification, Output
from tmux_wait.tmux import LEAST_PATIENCE, Reply, Tmux, parse_version

OLDEST = (3, 7, "")  # the server's version from which on a control client may attach
SURVIVES_RESPAWN = (3, 8, "")  # and from which on somebody may respawn the pane meanwhile
MOST_BYTES = 256 * 1024  # of one event
# As with the tap: after an event of so many bytes more is let gather for so many seconds.
FLOOD_BYTES = 2048
GATHER_TIME = 0.001


def is_safe(server_version: str) -> bool:
    """Say whether a control client may attach to a server of this ``#{version}``."""
    return parse_version(server_version) >= OLDEST and server_version != "next-3.7"


def survives_respawn(server_version: str) -> bool:
    """Say whether a server of this ``#{version}`` lives on when the watched pane is respawned."""
    return parse_version(server_version) >= SURVIVES_RESPAWN


class Control:
    """`Observer` over a control client; `open` it, and `close` it always."""

    name = "control"

    def __init__(self, driver: Driver, tmux: Tmux, before: Entry) -> None:
        """Start a client in a session of the pane that was seen as ``before``."""
        self.driver = driver
        self.tmux = tmux
        self.complete = True
        self._pane = before.pane
        self._session = before.session
        self._client = ControlClient(driver, tmux, before.session)
        self._cut: Snapshot | None = None
        self._ending: Ending | None = None
        self._process = 0
        self._paused: set[str] = set()
        self._checking: int | None = None  # the question about the pane's state, unanswered
        self._looking: dict[int, Look] = {}  # screens asked for
        self._last: Snapshot | None = None  # the newest of them
        self._flooded = False
        self._end: Ended | None = None
        self._closed = self._closing = False
        at_exit.remember(self)

    @property
    def cut(self) -> Snapshot:
        """Return all that was seen at the cut."""
        assert self._cut is not None
        return self._cut

    @property
    def entry(self) -> Entry:
        """Return the pane at the cut."""
        return self.cut.entry

    async def attach(self, until: float) -> bool:
        """Wait until the client is attached; False: it cannot. Nothing was typed."""
        try:
            return (await self._answer(0, until)).status == 0
        except EOFError:
            return False

    async def open(self, typing: Typing | None, until: float, lookback: int = LOOKBACK) -> None:
        """Make the cut, and type.

        Raises what `Look.read` and `Tmux.run` raise. Whatever happens, `close` is still due.
        """
        panes = ["list-panes", "-s", "-t", self._session, "-F", "#{pane_id}"]
        look = Look(self._pane, lookback=lookback, typing=typing)
        try:
            others = await self._answer(self._client.ask([panes]), until)
            pauses = self._pauses(others.out.decode().split())
            begin = ["refresh-client", "-f", "!no-output"]
            number = self._client.ask([begin, *pauses, *look.commands()])
            self._cut = look.read(await self._answer(number, until))
        except EOFError:
            raise TmuxWaitError(f"tmux ended the control client on {self._pane}") from None
        self._ending = Ending(self.driver, self.entry)
        self._process = self.entry.pane_pid
        if self.entry.dead:
            self._end = Ended(EndReason.CLOSED)
        else:
            self._check()

    async def next(self, until: float | None) -> Data | Rows | Ended | None:
        """Return what the pane wrote next; at its end its screen. See `Observer.next`."""
        ending = self._ending
        assert ending is not None
        while True:
            found = self._take()
            if found is not None:
                return found
            if self._end is not None:
                return self._end
            if self._client.over:
                await self._ask_why(until)
                continue
            await self._gather(until)
            due = until if self._checking is not None else ending.due(until)
            ready = await self.driver.wait([self._client.fd, *ending.watched], due)
            if self._client.fd in ready:
                self._flooded = self._client.read(MOST_BYTES) >= FLOOD_BYTES
            elif ready:  # the process has ended: see what it left before tmux takes it away
                ending.note(ready)
                self._look()
            elif due is not None and due != until:
                self._check()
            else:
                return None

    def let_go(self) -> None:
        """Nobody else needs to know."""

    async def close(self) -> None:
        """Detach, and leave nothing; see `Observer.close`.

        If cancelled, calling it again does what is still to do.
        """
        if self._closed or self._closing:
            return
        self._closing = True
        try:
            self._client.driver = self.driver
            await self._client.close()
            if self._ending is not None:
                self._ending.close()
            self._closed = True
            at_exit.forget(self)
        finally:
            self._closing = False

    def give_to(self, driver: Driver) -> None:
        """Let ``driver`` do what is still to do, whatever became of the one before."""
        self.driver = driver
        self._closing = False

    async def _answer(self, number: int, until: float) -> Reply:
        started = self.driver.now()
        patience = self.tmux.patience
        limit = min(max(until, started + LEAST_PATIENCE), started + patience)
        try:
            return await self._client.answer(number, limit)
        except TimeoutError:
            raise TmuxTimeoutError(self.tmux.binary, limit - started) from None

    async def _gather(self, until: float | None) -> None:
        """Let a flood gather: a reader that takes each small piece slows the pane down."""
        if self._flooded:
            self._flooded = False
            pause = self.driver.now() + GATHER_TIME
            await self.driver.wait((), pause if until is None else min(pause, until))

    # -- what the client said ----------------------------------------------------------------

    def _take(self) -> Data | Rows | None:
        """Go through what has come, in order, up to something to tell."""
        events = self._client.events
        data: list[bytes] = []
        while events and self._end is None:
            event = events[0]
            if not isinstance(event, Output) and data:
                break
            events.popleft()
            if isinstance(event, Output):
                if event.pane == int(self._pane[1:]):
                    data.append(event.data)
            elif isinstance(event, Notification):
                self._note(event)
            else:
                rows = self._note_answer(event)
                if rows is not None:
                    return rows
        return Data(b"".join(data)) if data else None

    def _note(self, event: Notification) -> None:
        words = event.args.decode(errors="replace").split()
        if event.name == "pause":
            # Nobody but us should pause a pane for us; if it is ours, some is missing.
            if words[:1] == [self._pane]:
                self._end = Ended(EndReason.DETACHED)
        elif event.name == "session-changed":
            if words[:1] != [self._session]:
                self._end = Ended(EndReason.MOVED)
        elif event.name != "exit":  # behind which it ends
            self._check()

    def _note_answer(self, answer: Answer) -> Rows | None:
        if answer.number == self._checking:
            self._checking = None
            return self._judge(answer.reply)
        look = self._looking.pop(answer.number, None)
        if look is None:
            return None
        try:
            self._last = look.read(answer.reply)
        except TmuxWaitError:  # the pane is gone
            return None
        return self._close_with_screen() if self._last.entry.dead else None

    def _judge(self, reply: Reply) -> Rows | None:
        """Take in what became of the pane, and pause the panes that are new."""
        ending = self._ending
        assert ending is not None
        *panes, answer = reply.out.decode(errors="replace").splitlines() or [""]
        state = read_state(answer, self._pane, self.entry.server_pid)
        if state is not None and self._pane not in panes:
            self._end = Ended(EndReason.MOVED)
            return None
        if pauses := self._pauses(panes):
            self._client.ask(pauses)
        if ending.doubted or state is None or state.dead or state.pid != self._process:
            ending.judge(state)
        if state is None:
            self.complete = False  # what tmux had not passed on went with the pane
            return self._close_with_screen()
        if state.pid not in (0, self._process):  # respawned: that was not its last screen
            self._process, self._last = state.pid, None
        if state.dead and not self._looking:
            self._look()
        return None

    def _close_with_screen(self) -> Rows | None:
        """End; tell of the rows of the last screen, which may show more than was heard."""
        self._end = Ended(EndReason.CLOSED)
        return Looks(self.cut).compare(self._last) if self._last is not None else None

    async def _ask_why(self, until: float | None) -> None:
        """The client has ended: find out whether the pane has."""
        state = await ask_state(self.driver, self.tmux, self._pane, self.entry.server_pid, until)
        if state is None or state.dead:
            self.complete = False
            self._end = Ended(EndReason.CLOSED)
        else:
            self._end = Ended(EndReason.DETACHED)

    # -- what it is asked --------------------------------------------------------------------

    def _check(self) -> None:
        """Ask for the panes of the session and the state of ours; once at a time."""
        if self._checking is None:
            panes = ["list-panes", "-s", "-t", self._session, "-F", "#{pane_id}"]
            state = ["display-message", "-p", "-t", self._pane, FIELDS]
            self._checking = self._client.ask([panes], [state])

    def _look(self) -> None:
        look = Look(self._pane)
        self._looking[self._client.ask(look.commands())] = look

    def _pauses(self, panes: list[str]) -> list[list[str]]:
        """Return the commands that pause those of ``panes`` that are new and not ours."""
        new = [pane for pane in panes if pane not in self._paused and pane != self._pane]
        self._paused.update(new)
        return [["refresh-client", "-A", f"{pane}:pause"] for pane in new]
