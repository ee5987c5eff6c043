"""Waits for a real program in a real tmux pane, through the command line and then through MCP.

The tmux server is private (its own socket name, no configuration) and is gone at the end,
whatever happened. This lives in docs because it is documentation that runs: both uses, as short
as they can be written.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import shlex
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from types import FrameType
from typing import NoReturn

from mcp import Client, StdioServerParameters

ROOT = Path(__file__).resolve().parent.parent.parent
SERVER = "sh docs/demo/server.sh"  # prints noise, and is ready after two seconds
READY, FATAL = "server ready", "FATAL"
PATIENCE = 20  # seconds: the longest that either wait may take
SOCKET = f"tmux-wait-demo-{os.getpid()}"
TMUX_WAIT = Path(sys.executable).with_name("tmux-wait")


def main() -> int:
    """Show both waits; return 0 if both found the line and left nothing."""
    signal.signal(signal.SIGTERM, _leave)
    with private_tmux():
        good = [wait_by_command(new_pane()), asyncio.run(wait_by_mcp())]
        good.append(nothing_is_left())
    print("The private tmux server has been ended.")
    return 0 if all(good) else 1


@contextlib.contextmanager
def private_tmux() -> Iterator[None]:
    """A tmux server of our own for as long as the block runs."""
    # Not through tmux(): the server would keep the pipe for its output open.
    start = ["tmux", "-L", SOCKET, "-f", "/dev/null", "new-session", "-d", "exec cat"]
    try:
        subprocess.run(start, stdout=subprocess.DEVNULL, check=True)
        print(f"A private {tmux('display-message', '-p', 'tmux #{version}')} server is running.")
        yield
    finally:
        with contextlib.suppress(subprocess.CalledProcessError):
            socket = Path(tmux("display-message", "-p", "#{socket_path}"))
            tmux("kill-server")
            socket.unlink(missing_ok=True)  # which tmux leaves behind


def wait_by_command(pane: str) -> bool:
    """Type the program's command line into a shell, and wait for what it prints."""
    words = ["for", pane, READY, "--stop", FATAL, "--send", SERVER, "--seconds", str(PATIENCE)]
    words += ["-L", SOCKET]
    print(f"\nThrough the command line:\n  $ {shlex.join(['tmux-wait', *words])}", flush=True)
    with subprocess.Popen(
        [TMUX_WAIT, *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        try:
            line, sentence = process.communicate()
        except BaseException:
            process.terminate()  # and it takes its pipe out of the pane before it goes
            raise
    show("stdout", line)
    show("stderr", sentence)
    show("exit status", str(process.returncode))
    return process.returncode == 0 and READY in line


async def wait_by_mcp() -> bool:
    """Start the program in a pane of its own, and wait for it as an agent does."""
    parameters = StdioServerParameters(
        command=str(TMUX_WAIT),
        args=["mcp", "-L", SOCKET],
        env={name: os.environ[name] for name in ("TMUX_TMPDIR",) if name in os.environ},
    )
    arguments = {"patterns": [READY], "stop": [FATAL], "seconds": PATIENCE}
    print(f"\nThrough MCP ({shlex.join(['tmux-wait', *parameters.args])}):", flush=True)
    async with Client(parameters) as client:
        arguments = {"pane": new_pane(SERVER), **arguments}
        print(f"  wait_for_text {json.dumps(arguments)}", flush=True)
        begun = time.monotonic()
        answer = await client.call_tool("wait_for_text", arguments)
        elapsed = time.monotonic() - begun
    result = answer.structured_content or {"outcome": "a tool error"}
    lines = [line for line in result.get("text", "").splitlines() if READY in line]
    show("outcome", result["outcome"])
    show("line", "\n".join(lines))
    show("elapsed", f"{elapsed:.2f} s")
    show("says", "\n".join(part.text for part in answer.content if part.type == "text"))
    return result["outcome"] == "matched" and bool(lines)


def nothing_is_left() -> bool:
    """Ask tmux whether a pane still has a pipe, or the server a client."""
    pipes = tmux("list-panes", "-a", "-F", "#{pane_pipe}").split()
    clients = tmux("list-clients").splitlines()
    print(f"\nLeft in tmux: {pipes.count('1')} pipes, {len(clients)} clients.")
    return "1" not in pipes and not clients


def new_pane(command: str = "PS1='$ ' exec sh") -> str:
    """Open a pane that runs ``command``; return its id."""
    return tmux("new-window", "-d", "-c", str(ROOT), "-P", "-F", "#{pane_id}", command)


def tmux(*arguments: str) -> str:
    """Run one tmux command on the private server; return what it prints."""
    return subprocess.run(
        ["tmux", "-u", "-L", SOCKET, *arguments],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        check=True,
    ).stdout.strip()


def show(name: str, value: str) -> None:
    """Print a named part of an answer, each of its lines beside the name."""
    for row in value.splitlines() or ["(nothing)"]:
        print(f"    {name:<12} {row}")


def _leave(number: int, _: FrameType | None) -> NoReturn:
    raise SystemExit(128 + number)


if __name__ == "__main__":
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        sys.exit(128 + signal.SIGINT)
