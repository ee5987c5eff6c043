"""The demo shows both waits and leaves nothing behind, also when it is interrupted."""

from __future__ import annotations

import contextlib
import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from conftest import PATIENCE

DEMO = Path(__file__).resolve().parent.parent / "docs" / "demo" / "demo.py"


@contextlib.contextmanager
def demo(folder: Path) -> Iterator[subprocess.Popen[str]]:
    """Start the demo with the folder of its own tmux sockets; see that it ends."""
    environment = os.environ | {"TMUX_TMPDIR": str(folder), "PYTHONUNBUFFERED": "1"}
    with subprocess.Popen(
        [sys.executable, DEMO],
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    ) as process:
        try:
            yield process
        finally:
            if process.poll() is None:
                process.terminate()


def sockets(folder: Path) -> list[Path]:
    """The sockets of tmux servers in ``folder``."""
    return list(folder.glob("tmux-*/*"))


def alive(socket: Path) -> bool:
    """Whether a tmux server answers there."""
    command = ["tmux", "-S", str(socket), "list-sessions"]
    return subprocess.run(command, capture_output=True, check=False).returncode == 0


def test_demo_shows_the_line_twice_and_ends_its_server(tmp_path: Path) -> None:
    with demo(tmp_path) as process:
        said, _ = process.communicate(timeout=6 * PATIENCE)
    assert process.returncode == 0, said
    assert re.findall(r"(\w+) +server ready on port 8080$", said, re.M) == ["stdout", "line"]
    assert "matched\n" in said
    assert "Left in tmux: 0 pipes, 0 clients." in said
    assert sockets(tmp_path) == []


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_interrupted_demo_ends_its_server(tmp_path: Path, number: signal.Signals) -> None:
    with demo(tmp_path) as process:
        assert process.stdout is not None
        assert any("$ tmux-wait for" in line for line in process.stdout)
        (socket,) = sockets(tmp_path)
        assert alive(socket)
        process.send_signal(number)
        process.communicate(timeout=PATIENCE)
    assert process.returncode == 128 + number
    assert not alive(socket)
    assert sockets(tmp_path) == []
