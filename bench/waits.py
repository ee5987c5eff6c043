"""What a wait costs, beside the floor it stands on, in one run: `python bench/waits.py`.

Each figure is the median of interleaved rounds, with its spread, and a wrong answer is a failure:

- write to result, idle pane: from the moment a program writes a line to the moment that the
  waiting coroutine has its result; the floor is a plain reader of the same `pipe-pane` FIFO;
- CPU of an idle wait: user and system time of this process between two looks at a wait that
  hears nothing;
- the speed of a flooding pane while it is watched, by its unwatched speed.
"""

from __future__ import annotations

import asyncio
import os
import resource
import select
import statistics
import subprocess
import tempfile
import time
import uuid
from collections.abc import Sequence
from pathlib import Path

from tmux_wait import TmuxServer, WaitOutcome

ROUNDS = 100
IDLE_SECONDS = 10.0
FLOOD_BYTES = 60_000_000
FLOOD_ROUNDS = 5


class Server:
    """A private tmux server."""

    def __init__(self) -> None:
        self.binary = os.environ.get("TMUX_WAIT_TEST_TMUX", "tmux")
        self.name = f"tw-bench-{uuid.uuid4().hex[:8]}"

    def run(self, *args: str) -> str:
        """Run one tmux command; return its output."""
        with tempfile.TemporaryFile() as out:
            subprocess.run(
                [self.binary, "-u", "-f", "/dev/null", "-L", self.name, *args],
                stdin=subprocess.DEVNULL, stdout=out, stderr=subprocess.DEVNULL, check=False,
            )  # fmt: skip
            out.seek(0)
            return out.read().decode().strip()

    def pane(self, command: str) -> str:
        """Start a program in a pane of its own."""
        return self.run("new-session", "-d", "-P", "-F", "#{pane_id}", command)


def spread(samples: Sequence[float], unit: float) -> str:
    """Say the median and the range of what was measured."""
    low, middle, high = min(samples), statistics.median(samples), max(samples)
    return f"median {middle / unit:.2f}, {low / unit:.2f} to {high / unit:.2f}"


def writer(folder: Path) -> tuple[str, Path]:
    """Return a program that writes each line it gets through a FIFO, and that FIFO."""
    fifo = folder / f"in-{uuid.uuid4().hex[:6]}"
    os.mkfifo(fifo)
    return f"stty -echo; exec cat {fifo}", fifo


async def write_to_result(server: Server, folder: Path) -> list[float]:
    """Return seconds from a program's write to the result of a wait."""
    command, fifo = writer(folder)
    pane = server.pane(command)
    feed = os.open(fifo, os.O_WRONLY)
    taken = []
    async with TmuxServer(server.name, tmux=server.binary) as waiter:
        for number in range(ROUNDS):
            word = f"answer-{number}."
            waiting = asyncio.ensure_future(
                waiter.wait_for_text(pane, [word], fresh=True, seconds=10)
            )
            while server.run("display-message", "-p", "-t", pane, "#{pane_pipe}") != "1":
                await asyncio.sleep(0.01)
            await asyncio.sleep(0.05)
            began = time.perf_counter()
            os.write(feed, f"{word}\n".encode())
            result = await waiting
            taken.append(time.perf_counter() - began)
            assert result.outcome is WaitOutcome.MATCHED, result
            while server.run("display-message", "-p", "-t", pane, "#{pane_pipe}") != "0":
                await asyncio.sleep(0.01)
    os.close(feed)
    return taken


def write_to_read(server: Server, folder: Path) -> list[float]:
    """Return seconds from a program's write to a plain read of the pane's pipe."""
    command, fifo = writer(folder)
    pane = server.pane(command)
    feed = os.open(fifo, os.O_WRONLY)
    tap = folder / "tap"
    os.mkfifo(tap)
    reader = os.open(tap, os.O_RDONLY | os.O_NONBLOCK)
    server.run("pipe-pane", "-O", "-t", pane, f"exec cat > {tap}")
    taken = []
    for number in range(ROUNDS):
        word = f"answer-{number}.".encode()
        time.sleep(0.05)
        began = time.perf_counter()
        os.write(feed, word + b"\n")
        heard = b""
        while word not in heard:
            select.select([reader], [], [], 10)
            try:
                heard += os.read(reader, 65536)
            except BlockingIOError:
                continue
        taken.append(time.perf_counter() - began)
    os.close(feed)
    os.close(reader)
    return taken


async def idle_cpu(server: Server) -> float:
    """Return the seconds of CPU that ten seconds of hearing nothing cost."""
    pane = server.pane("exec cat")
    async with TmuxServer(server.name, tmux=server.binary) as waiter:
        waiting = asyncio.ensure_future(waiter.wait_for_text(pane, ["x"], seconds=60))
        await asyncio.sleep(0.5)
        before = resource.getrusage(resource.RUSAGE_SELF)
        await asyncio.sleep(IDLE_SECONDS)
        after = resource.getrusage(resource.RUSAGE_SELF)
        waiting.cancel()
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


async def flood(server: Server, folder: Path, patterns: Sequence[str], regex: bool) -> float:
    """Return the seconds that a pane takes to write its flood, watched if there are patterns."""
    log = folder / "log"
    if not log.exists():
        line = "\x1b[32mINFO\x1b[0m worker {} took {} ms for GET /path/{}\n"
        text = "".join(line.format(n % 64, n % 977, n) for n in range(20_000))
        log.write_text((text * (FLOOD_BYTES // len(text) + 1))[:FLOOD_BYTES])
    done = folder / f"done-{uuid.uuid4().hex[:6]}"
    go = folder / f"go-{uuid.uuid4().hex[:6]}"
    os.mkfifo(go)
    pane = server.pane(f"read x < {go}; cat {log}; echo THE-END; touch {done}; exec cat")
    async with TmuxServer(server.name, tmux=server.binary) as waiter:
        waiting = None
        if patterns:
            waiting = asyncio.ensure_future(
                waiter.wait_for_text(pane, patterns, regex=regex, seconds=120)
            )
            while server.run("display-message", "-p", "-t", pane, "#{pane_pipe}") != "1":
                await asyncio.sleep(0.01)
        began = time.perf_counter()
        go.write_text("x\n")
        while not done.exists():
            await asyncio.sleep(0.005)
        taken = time.perf_counter() - began
        if waiting is not None:
            result = await waiting
            assert result.outcome is WaitOutcome.MATCHED, (
                result.outcome,
                result.backend,
                result.elapsed,
                result.bytes,
                result.text[-300:],
            )
    return taken


async def main() -> None:
    """Measure and print."""
    server = Server()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        keeper = server.pane("exec cat")
        try:
            print(f"tmux {server.run('display-message', '-p', '-t', keeper, '#{version}')}")
            floor = write_to_read(server, folder)
            ours = await write_to_result(server, folder)
            print(f"write to read, plain reader [ms]: {spread(floor, 1e-3)}")
            print(f"write to result, tmux-wait [ms]:  {spread(ours, 1e-3)}")
            print(f"CPU of a {IDLE_SECONDS:g} s idle wait [ms]: {await idle_cpu(server) * 1e3:.2f}")
            ratios: dict[str, list[float]] = {"literals": [], "regex": []}
            literals = [f"nowhere-{n}" for n in range(7)] + ["THE-END"]
            for _ in range(FLOOD_ROUNDS):
                alone = await flood(server, folder, [], False)
                ratios["literals"].append(alone / await flood(server, folder, literals, False))
                ratios["regex"].append(alone / await flood(server, folder, ["THE-E.D"], True))
            for kind, found in ratios.items():
                print(f"speed of a watched flood by unwatched, {kind}: {spread(found, 1)}")
        finally:
            server.run("kill-server")


if __name__ == "__main__":
    asyncio.run(main())
