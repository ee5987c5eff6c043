"""Running ``tmux-wait`` as a shell would, and looking for what it may have left behind."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from conftest import TmuxServerFixture, wait_until

ROOT = Path(__file__).parents[2]
PATIENCE = 60.0  # seconds: how long a command may take before the test gives up on it


@dataclass(frozen=True)
class Ended:
    """What came of a command."""

    status: int
    out: str
    err: str


def argv(server: TmuxServerFixture, *arguments: str) -> list[str]:
    """Return the command line: the subcommand, how to reach the server, then the rest."""
    command, *rest = arguments
    where = ["-L", server.name, "--tmux", server.binary]
    return [sys.executable, "-m", "tmux_wait.cli", command, *where, *rest]


def environment(server: TmuxServerFixture, **more: str) -> dict[str, str]:
    """Return an environment whose temporary files are all below the test's own folder."""
    scratch = server.folder / "scratch"
    scratch.mkdir(exist_ok=True)
    return {**os.environ, "TMPDIR": str(scratch), "XDG_RUNTIME_DIR": str(scratch), **more}


def start(server: TmuxServerFixture, *arguments: str, **options: Any) -> subprocess.Popen[bytes]:
    """Start ``tmux-wait`` with pipes for its output."""
    settings: dict[str, Any] = {
        "cwd": ROOT,
        "env": environment(server),
        "stdin": subprocess.DEVNULL,
        "stdout": subprocess.PIPE,
        "stderr": subprocess.PIPE,
    }
    return subprocess.Popen(argv(server, *arguments), **{**settings, **options})


def end(process: subprocess.Popen[bytes]) -> Ended:
    """Wait for a started command."""
    out, err = process.communicate(timeout=PATIENCE)
    return Ended(process.returncode, (out or b"").decode(), (err or b"").decode())


def run(server: TmuxServerFixture, *arguments: str, env: Mapping[str, str] | None = None) -> Ended:
    """Run ``tmux-wait`` to its end."""
    options = {} if env is None else {"env": env}
    return end(start(server, *arguments, **options))


def listening(server: TmuxServerFixture, pane: str) -> None:
    """Wait until somebody's pipe is on the pane."""
    wait_until(lambda: server.get(pane, "#{pane_pipe}") == "1", f"a pipe on {pane}")


def strangers(server: TmuxServerFixture) -> list[str]:
    """Return the server's child processes that are not the programs of its panes."""
    panes = server.tmux("list-panes", "-a", "-F", "#{pane_pid}").split()
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            state, parent = folder.joinpath("stat").read_text().rsplit(")", 1)[1].split()[:2]
            if int(parent) == server.pid and folder.name not in panes and state != "Z":
                found.append(folder.joinpath("cmdline").read_bytes().decode())
        except (FileNotFoundError, ProcessLookupError):
            continue
    return found


def nothing_left(server: TmuxServerFixture, pane: str) -> None:
    """Assert that right now there is no pipe on the pane, no process and no file of ours."""
    assert server.get(pane, "#{pane_pipe}") == "0"
    scratch = server.folder / "scratch"
    assert not scratch.exists() or not list(scratch.iterdir())
    wait_until(lambda: strangers(server) == [], "the pipe's process to end")
