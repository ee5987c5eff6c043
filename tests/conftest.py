"""A real tmux server for each test, private and gone afterwards; and what tests share."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import tempfile
import time
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

PATIENCE = 10.0  # seconds: how long a test waits for a condition before it fails
TMUX = os.environ.get("TMUX_WAIT_TEST_TMUX", "tmux")


def _version_of(tmux: str) -> tuple[int, int]:
    words = subprocess.run([tmux, "-V"], stdout=subprocess.PIPE, text=True, check=True).stdout
    found = re.search(r"(\d+)\.(\d+)", words)
    assert found, words
    return int(found[1]), int(found[2])


# The version of the tmux under test, and the ears that may be used on it.
VERSION = _version_of(TMUX)
HAS_CONTROL = VERSION >= (3, 7)
EARS = ("tap", "control", "poll") if HAS_CONTROL else ("tap", "poll")
# What hears a pane whose pipe is somebody else's.
SECOND_EAR = "control" if VERSION >= (3, 8) else "poll"
with_each_ear = pytest.mark.parametrize("backend", EARS)
control_only = pytest.mark.skipif(not HAS_CONTROL, reason="a control client needs tmux 3.7")


def _take_signals() -> None:
    """Undo that a shell's background job, or nohup, has us and our children ignore signals."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    if signal.getsignal(signal.SIGHUP) is signal.SIG_IGN:
        signal.signal(signal.SIGHUP, signal.SIG_DFL)


_take_signals()


def wait_until(condition: Callable[[], bool], what: str = "the condition") -> None:
    """Look again and again until ``condition`` holds; fail after ``PATIENCE`` seconds."""
    deadline = time.monotonic() + PATIENCE
    while not condition():
        if time.monotonic() > deadline:
            pytest.fail(f"{what} did not come true within {PATIENCE:g} s")
        time.sleep(0.005)


class TmuxServerFixture:
    """One private tmux server; ``tmux`` runs a command on it, ``pane`` starts a program."""

    def __init__(self, folder: Path) -> None:
        self.binary = TMUX
        self.name = f"tw-{uuid.uuid4().hex[:12]}"
        self.folder = folder
        self.pid = 0
        self.socket = ""

    def run(self, *args: str) -> subprocess.CompletedProcess[str]:
        """Run one tmux command on this server and return what came of it."""
        with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
            # Files, not pipes: a server that this call starts would keep a pipe open.
            status = subprocess.run(
                [self.binary, "-u", "-f", "/dev/null", "-L", self.name, *args],
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=err,
                timeout=PATIENCE,
                check=False,
            ).returncode
            out.seek(0)
            err.seek(0)
            return subprocess.CompletedProcess(
                args, status, out.read().decode(), err.read().decode()
            )

    def tmux(self, *args: str) -> str:
        """Run one tmux command that must succeed; return its output without the last line feed."""
        done = self.run(*args)
        assert done.returncode == 0, f"tmux {args}: {done.stderr}"
        return done.stdout.rstrip("\n")

    def pane(self, *command: str, width: int = 80, height: int = 24) -> str:
        """Start ``command`` (default: a quiet ``cat``) in a new session; return its pane id."""
        pane = self.tmux(
            "new-session", "-d", "-x", str(width), "-y", str(height), "-P", "-F", "#{pane_id}",
            *(command or ("exec cat",)),
        )  # fmt: skip
        pid, self.socket = self.get(pane, "#{pid} #{socket_path}").split(" ", 1)
        self.pid = int(pid)
        return pane

    def get(self, pane: str, fields: str) -> str:
        """Expand a tmux format for a pane."""
        return self.tmux("display-message", "-p", "-t", pane, fields)

    def screen(self, pane: str) -> str:
        """Return the visible screen of a pane, soft wraps joined."""
        return self.tmux("capture-pane", "-p", "-J", "-t", pane)

    def shows(self, pane: str, text: str) -> None:
        """Wait until the pane's screen holds ``text``."""
        wait_until(lambda: text in self.screen(pane), f"{text!r} on the screen of {pane}")

    def type(self, pane: str, text: str, enter: bool = True) -> None:
        """Type ``text`` into a pane."""
        self.tmux("send-keys", "-t", pane, "-l", text)
        if enter:
            self.tmux("send-keys", "-t", pane, "Enter")

    def close(self) -> None:
        """End the server, by its own pid if the polite way fails."""
        if not self.pid:
            return
        self.run("kill-server")
        deadline = time.monotonic() + PATIENCE
        while _alive(self.pid) and time.monotonic() < deadline:
            time.sleep(0.005)
        if _alive(self.pid):
            os.kill(self.pid, signal.SIGKILL)
            pytest.fail("the test's tmux server did not end")
        Path(self.socket).unlink(missing_ok=True)  # tmux leaves it


def _alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    # A zombie answers signals but has ended.
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return not Path("/proc").exists()


@pytest.fixture
def tmux_server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[TmuxServerFixture]:
    """A private tmux server, started at its first ``pane`` and ended with the test."""
    monkeypatch.delenv("TMUX", raising=False)
    monkeypatch.delenv("TMUX_PANE", raising=False)
    server = TmuxServerFixture(tmp_path)
    try:
        yield server
    finally:
        server.close()


@pytest.fixture
def spotless(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The folder for FIFOs; afterwards it is empty and no descriptor or child is left."""
    scratch = tmp_path / "run"
    scratch.mkdir()
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(scratch))
    before = _descriptors()
    yield scratch
    assert list(scratch.iterdir()) == []
    assert _descriptors() <= before, "a descriptor was left open"
    with pytest.raises(ChildProcessError):
        os.waitpid(-1, os.WNOHANG)


@pytest.fixture(params=("scalar", "sse2", "avx2", "avx512", "neon"))
def level(request: pytest.FixtureRequest) -> Iterator[str]:
    """Make the stream objects that the test builds use this level of vectors."""
    from tmux_wait._core import lib

    before = lib.tw_simd_level()
    if not lib.tw_simd_use(getattr(lib, f"TW_SIMD_{request.param.upper()}")):
        pytest.skip(f"this processor has no {request.param}")
    yield request.param
    assert lib.tw_simd_use(before)


def _descriptors() -> set[str]:
    """Return the open descriptors of this process; none where /proc does not show them."""
    folder = Path("/proc/self/fd")
    return {name for name in os.listdir(folder) if (folder / name).exists()}  # noqa: PTH208
