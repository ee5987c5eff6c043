"""A control client (``tmux -C attach``): its process, and what is said to it and by it, in order.

From tmux's own source (``control.c``, ``server-client.c``) and from measurement, 3.7c and 3.8:

- It attaches with ``no-output``, so that nothing is queued before the cut; ``-E`` leaves the
  session's environment alone, ``ignore-size`` its size. Not ``read-only``: other people's
  ``send-keys`` may be run in the name of any client, and would be refused.
- A pane that is not wanted is paused. ``off`` would stop it: tmux no longer reads a pane that all
  attached clients have turned off.
- Answers stand in order with the panes' output, so a question's place in the stream is exact.
- A client that leaves while output is queued can take the server with it. So ``no-output`` first,
  and only after its answer the end of the input.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections import deque
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from tmux_wait.drive import Driver
from tmux_wait.errors import TmuxNotFoundError
from tmux_wait.observe.typing import command_text
from tmux_wait.stream import ControlParser, Notification, Output
from tmux_wait.stream import Reply as ControlReply
from tmux_wait.tmux import Reply, Tmux

READ_SIZE = 64 * 1024  # bytes: what a pipe holds
DETACH_TIME = 1.0  # seconds until a client that does not leave is killed
# Of all, only these say that panes came, went or moved, or that the client did.
NOTABLE = frozenset(
    ("layout-change", "window-add", "window-close", "unlinked-window-close", "session-changed",
     "sessions-changed", "pause", "exit")
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Answer:
    """What came of the commands of one `ControlClient.ask`; ``number`` is the one it returned."""

    number: int
    reply: Reply


Event = Output | Notification | Answer


class ControlClient:
    """One attached client; ``events`` are what it said, in order, for the owner to take."""

    def __init__(self, driver: Driver, tmux: Tmux, session: str) -> None:
        """Start it; raises `TmuxNotFoundError`. Its first answer, number 0, is the attach's."""
        self.driver = driver
        self.events: deque[Event] = deque()
        self.over = False  # nothing more comes from it
        self._parser = ControlParser()
        self._asked: deque[str] = deque([""])  # the word that ends each answer to come
        self._answered = 0
        self._reply = Reply(0, b"", "")
        attach = ["attach-session", "-E", "-f", "ignore-size,no-output", "-t", session]
        argv = tmux.argv([attach])
        argv.insert(1, "-C")
        self._process = _start([*dies_with_us(), *argv], tmux.binary)
        assert self._process.stdout is not None
        self.fd = self._process.stdout.fileno()
        os.set_blocking(self.fd, False)

    def ask(self, *lines: Sequence[Sequence[str]]) -> int:
        """Send lines of commands; return the number of the `Answer` to come.

        What stands on one line is one dispatch, and ends at the first command that fails.
        """
        word = os.urandom(8).hex()
        self._asked.append(word)
        text = [" ; ".join(map(command_text, line)) for line in lines]
        self._say("\n".join([*text, command_text(["display-message", "-p", word]), ""]))
        return self._answered + len(self._asked) - 1

    def read(self, most: int) -> int:
        """Take what has come, up to ``most`` bytes; return how many they were."""
        size = 0
        while not self.over and size < most:
            try:
                chunk = os.read(self.fd, READ_SIZE)
            except BlockingIOError:
                break
            self.over = not chunk
            size += len(chunk)
            self._take(chunk)
        return size

    async def answer(self, number: int, limit: float) -> Reply:
        """Wait for an answer; the other events stay. Raises TimeoutError, and EOFError if it left.

        If cancelled, the answer may come as an event.
        """
        while True:
            for event in self.events:
                if isinstance(event, Answer) and event.number == number:
                    self.events.remove(event)
                    return event.reply
            if self.over:
                raise EOFError
            if not await self.driver.wait([self.fd], limit):
                raise TimeoutError
            self.read(READ_SIZE)

    async def close(self) -> None:
        """Leave the server unharmed and reap the client; raises nothing.

        If cancelled, calling it again does what is still to do.
        """
        limit = self.driver.now() + DETACH_TIME
        with suppress(EOFError, TimeoutError):
            number = self.ask([["refresh-client", "-f", "no-output"]])
            await self.answer(number, limit)
        self._close_input()
        while not self.over and await self.driver.wait([self.fd], limit):
            self.read(READ_SIZE)
            self.events.clear()
        await self._reap(limit)

    async def _reap(self, limit: float) -> None:
        pause = 0.0005  # seconds, doubled each time
        while self._process.poll() is None and self.driver.now() < limit:
            await self.driver.wait((), min(limit, self.driver.now() + pause))
            pause = min(pause * 2, 0.05)
        if self._process.poll() is None:
            self._process.kill()
            self._process.wait()
        if self._process.stdout is not None:
            self._process.stdout.close()

    def _close_input(self) -> None:
        if self._process.stdin is not None:
            with suppress(OSError):
                self._process.stdin.close()

    def _say(self, text: str) -> None:
        assert self._process.stdin is not None
        # A pipe holds more than all that is ever asked at a time: this does not block.
        with suppress(OSError, ValueError):  # it has left: that shows when it is read
            os.write(self._process.stdin.fileno(), text.encode())

    def _take(self, chunk: bytes) -> None:
        for event in self._parser.feed(chunk):
            if isinstance(event, ControlReply):
                self._take_reply(event)
            elif isinstance(event, Output) or event.name in NOTABLE:
                self.events.append(event)

    def _take_reply(self, said: ControlReply) -> None:
        """Put together the answers to one question; 3.7 tells notifications inside of one too."""
        if not self._asked or (said.flags != 1 and self._asked[0]):
            return
        body = said.body
        before = self._reply
        words = "" if said.ok else body.decode(errors="replace").strip()
        self._reply = Reply(
            before.status or int(not said.ok),
            before.out + body if said.ok else before.out,
            before.err or words,
        )
        word = self._asked[0]
        end = word.encode() + b"\n"
        if not word or body.endswith(end):
            out = self._reply.out.removesuffix(end) if word else self._reply.out
            reply = Reply(self._reply.status, out, self._reply.err)
            self.events.append(Answer(self._answered, reply))
            self._answered += 1
            self._asked.popleft()
            self._reply = Reply(0, b"", "")


def _start(argv: list[str], binary: str) -> subprocess.Popen[bytes]:
    """Start a client in a session of its own: Ctrl-C and a hang-up are not for it."""
    try:
        return subprocess.Popen(
            argv,
            bufsize=0,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
    except (OSError, ValueError) as failure:
        reason = getattr(failure, "strerror", None) or str(failure)
        raise TmuxNotFoundError(binary, reason) from None


@lru_cache(maxsize=1)
def dies_with_us() -> Sequence[str]:
    """Return what to start a client with, so that it is killed when this thread ends.

    util-linux's setpriv(1), or, 30 ms slower, Python. Code of our own between fork and exec could
    hang where there are threads. Empty where the system cannot do it: there, and under a flood, a
    client whose owner was killed stays, neither leaving nor letting its server end.
    """
    if sys.platform != "linux":
        return ()
    setpriv = shutil.which("setpriv")
    if setpriv is not None and Path(setpriv).resolve().name == "setpriv":  # not busybox's
        return (setpriv, "--pdeathsig", "KILL")
    return (sys.executable, "-I", "-S", "-c", _DIE_WITH_PARENT) if sys.executable else ()


# prctl(PR_SET_PDEATHSIG, SIGKILL), then the program.
_DIE_WITH_PARENT = (
    "import ctypes, os, sys; ctypes.CDLL(None).prctl(1, 9); os.execvp(sys.argv[1], sys.argv[1:])"
)
