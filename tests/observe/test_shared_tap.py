"""One pipe for all waits on a pane: each with its own exact cut, and read whatever Python does."""

from __future__ import annotations

import asyncio
import random
import re
import time
from contextlib import suppress
from functools import partial
from pathlib import Path

import pytest
from conftest import PATIENCE, SECOND_EAR, TmuxServerFixture, wait_until
from ears import (
    CLOSED,
    STOLEN,
    Main,
    hear,
    listen,
    notice,
    on_both_drivers,
    pipe_processes,
    run_asyncio,
    run_blocking,
)

from tmux_wait import TmuxServer, WaitOutcome
from tmux_wait.drive import Driver
from tmux_wait.observe import Data, Observer, drain, pipe
from tmux_wait.observe.drain import Reader
from tmux_wait.observe.fifo import Fifo
from tmux_wait.observe.pipe import Pipe
from tmux_wait.observe.typing import Typing
from tmux_wait.stream import LineScanner

pytestmark = pytest.mark.usefixtures("spotless")

COUNTER = "i=0; while :; do i=$((i+1)); echo n$i; done"
# A full screen drawn again and again, as a program does that shows the state of things.
REDRAWN = r"i=0; while :; do i=$((i+1)); printf '\033[H%s\033[J\033[5;1Hbelow\033[2;4H' $i; done"


def alone(server: TmuxServerFixture, pane: str) -> None:
    """Assert that no pipe of ours is left."""
    assert server.get(pane, "#{pane_pipe}") == "0"
    assert pipe_processes(server) == []


async def numbers(ear: Observer, most: int = 20_000) -> list[int]:
    """Return the numbers on the screen at an ear's cut and in what it hears behind it."""
    rows = [row.encode() for row in ear.entry.rows[: ear.entry.cursor_row + 1]]
    stream = b"\n".join(rows)
    while len(stream) < most:
        event = await ear.next(None)
        assert isinstance(event, Data)
        stream += event.data
    return [int(n) for n in re.findall(rb"n(\d+)\r?\n", stream)]


@on_both_drivers
def test_screen_and_stream_of_later_waits_meet_exactly(
    run: Main, tmux_server: TmuxServerFixture
) -> None:
    pane = tmux_server.pane(f"exec dash -c '{COUNTER}'")
    tmux_server.shows(pane, "n1")

    async def main(driver: Driver) -> None:
        first = await listen(driver, tmux_server, pane)
        for _ in range(10):
            ear = await listen(driver, tmux_server, pane, backend="tap")
            found = await numbers(ear)
            assert found == list(range(found[0], found[0] + len(found)))
            await ear.close()
        found = await numbers(first, 200_000)
        assert found == list(range(found[0], found[0] + len(found)))

    run(main)
    alone(tmux_server, pane)


@on_both_drivers
def test_ten_waits_share_one_pipe_until_the_last_has_gone(
    run: Main, tmux_server: TmuxServerFixture
) -> None:
    pane = tmux_server.pane()

    async def main(driver: Driver) -> None:
        ears = [await listen(driver, tmux_server, pane) for _ in range(10)]
        assert len(pipe_processes(tmux_server)) == 1
        random.Random(1).shuffle(ears)
        for left, ear in enumerate(ears):
            tmux_server.type(pane, f"word {left}")
            heard, _ = await hear(driver, ear, b"word %d\r\nword %d\r\n" % (left, left))
            told = [b"word %d\r\n" % n * 2 for n in range(left + 1)]
            assert heard == b"".join(told)
            ear.let_go()
            await ear.close()
            await ear.close()
            left_open = left < 9
            assert len(pipe_processes(tmux_server)) == left_open
            assert tmux_server.get(pane, "#{pane_pipe}") == str(int(left_open))

    run(main)
    alone(tmux_server, pane)


def test_waits_that_begin_at_once_share_one_pipe(tmux_server: TmuxServerFixture) -> None:
    pane = tmux_server.pane()

    async def main(driver: Driver) -> None:
        opening = [listen(driver, tmux_server, pane, backend="tap") for _ in range(10)]
        ears = await asyncio.gather(*opening)
        assert len(pipe_processes(tmux_server)) == 1
        tmux_server.type(pane, "all")
        for ear in ears:
            assert (await hear(driver, ear, b"all\r\nall\r\n"))[0] == b"all\r\nall\r\n"

    run_asyncio(main)
    alone(tmux_server, pane)


@on_both_drivers
def test_a_later_wait_types_once_and_hears_it_after_its_cut(
    run: Main, tmux_server: TmuxServerFixture
) -> None:
    pane = tmux_server.pane("echo ready; exec cat")
    tmux_server.shows(pane, "ready")

    async def main(driver: Driver) -> None:
        first = await listen(driver, tmux_server, pane)
        tmux_server.type(pane, "before")
        later = await listen(driver, tmux_server, pane, typing=Typing("typed"), backend="tap")
        assert "typed" not in later.entry.rows
        assert (await hear(driver, later, b"typed\r\ntyped\r\n"))[0] == b"typed\r\ntyped\r\n"
        heard = (await hear(driver, first, b"typed\r\ntyped\r\n"))[0]
        assert heard == b"before\r\nbefore\r\ntyped\r\ntyped\r\n"

    run(main)
    assert tmux_server.screen(pane).split() == ["ready", *["before"] * 2, *["typed"] * 2]


@on_both_drivers
def test_a_full_screen_that_rests_can_be_shared(run: Main, tmux_server: TmuxServerFixture) -> None:
    pane = tmux_server.pane(r"printf '\033[?1049h\033[Htop\033[9;1Hbelow\033[2;4H'; exec cat")
    tmux_server.shows(pane, "below")

    async def main(driver: Driver) -> None:
        first = await listen(driver, tmux_server, pane)
        later = await listen(driver, tmux_server, pane, backend="tap")
        assert later.entry.rows[0] == "top"
        tmux_server.type(pane, "x")
        for ear in (first, later):
            assert (await hear(driver, ear, b"x\r\nx\r\n"))[0] == b"x\r\nx\r\n"

    run(main)


@pytest.mark.parametrize("typing", [None, Typing("typed")], ids=["silent", "typing"])
def test_where_the_cut_cannot_be_found_the_next_ear_is_taken(
    tmux_server: TmuxServerFixture, monkeypatch: pytest.MonkeyPatch, typing: Typing | None
) -> None:
    # On a busy machine the program may pause just then, and the cut be certain.
    monkeypatch.setattr(Pipe, "has_passed_on_all", lambda *_: False)
    typed = tmux_server.folder / "typed"
    script = tmux_server.folder / "script"
    script.write_text(f"stty -echo\n(cat >'{typed}') </dev/tty &\n{REDRAWN}\n")
    pane = tmux_server.pane(f"exec dash '{script}'")
    tmux_server.shows(pane, "below")

    async def main(driver: Driver) -> None:
        first = await listen(driver, tmux_server, pane, backend="tap")
        later = await listen(driver, tmux_server, pane, typing=typing)
        # What has been typed is not typed again for another ear's sake.
        assert later.name == (SECOND_EAR if typing is None else "poll")
        for ear in (first, later):
            assert "below" in (await notice(driver, ear, "below"))[0]

    run_blocking(main)
    if typing is not None:
        wait_until(lambda: typed.read_text() == "typed\n")


def test_whoever_waits_for_an_opening_that_is_given_up_opens_the_pipe(
    tmux_server: TmuxServerFixture,
) -> None:
    pane = tmux_server.pane()

    async def main(driver: Driver) -> None:
        for steps in range(0, 30, 3):
            opener = asyncio.ensure_future(listen(driver, tmux_server, pane, backend="tap"))
            others = [
                asyncio.ensure_future(listen(driver, tmux_server, pane, backend="tap"))
                for _ in range(3)
            ]
            for _ in range(steps):
                await asyncio.sleep(0.0005)
            opener.cancel()
            await asyncio.wait([opener])
            if not opener.cancelled():
                await opener.result().close()
            for ear in await asyncio.gather(*others):
                assert len(pipe_processes(tmux_server)) == 1
                await ear.close()
            assert pipe_processes(tmux_server) == []

    run_asyncio(main)
    alone(tmux_server, pane)


def test_a_deaf_pipe_is_waited_for_once_by_all(
    tmux_server: TmuxServerFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    unreachable = "exec >'/nonexistent/fifo'; echo $$; exec cat"
    asked: list[int] = []

    def shell_command(fifo: Fifo) -> str:
        asked.append(1)
        return unreachable

    monkeypatch.setattr(Fifo, "shell_command", shell_command)
    monkeypatch.setattr(pipe, "PROOF_TIME", 0.5)
    pane = tmux_server.pane()

    async def main(driver: Driver) -> None:
        opening = [
            listen(driver, tmux_server, pane, typing=Typing(f"typed {n}") if n else None)
            for n in range(4)
        ]
        ears = await asyncio.gather(*opening)
        assert [ear.name for ear in ears] == ["poll"] * 4
        assert len(asked) == 1

    run_asyncio(main)
    each_once = [2, 2, 2]  # the terminal's echo, and what cat says to it
    wait_until(
        lambda: [tmux_server.screen(pane).count(f"typed {n}") for n in (1, 2, 3)] == each_once
    )
    alone(tmux_server, pane)


@on_both_drivers
def test_all_hear_that_the_pipe_was_stolen(run: Main, tmux_server: TmuxServerFixture) -> None:
    pane = tmux_server.pane()

    async def main(driver: Driver) -> None:
        ears = [await listen(driver, tmux_server, pane) for _ in range(3)]
        tmux_server.type(pane, "before")
        wait_until(lambda: tmux_server.screen(pane).split()[:2] == ["before", "before"])
        tmux_server.tmux("pipe-pane", "-t", pane, "exec cat >/dev/null")
        for ear in ears:
            assert await hear(driver, ear) == (b"before\r\nbefore\r\n", STOLEN)
        next_one = await listen(driver, tmux_server, pane)
        assert next_one.name == SECOND_EAR

    run(main)
    assert tmux_server.get(pane, "#{pane_pipe}") == "1"
    assert pipe_processes(tmux_server) == []


@on_both_drivers
@pytest.mark.parametrize("remain", ["on", "off"])
def test_all_hear_the_last_words(run: Main, tmux_server: TmuxServerFixture, remain: str) -> None:
    tmux_server.pane()  # the server stays
    whole = b"go\r\n" + b"".join(b"%d\r\n" % n for n in range(1, 2001)) + b"last words\r\n"

    async def words(driver: Driver) -> bytes:
        pane = tmux_server.pane("read go; seq 1 2000; echo last words")
        tmux_server.tmux("set-option", "-w", "-t", pane, "remain-on-exit", remain)
        ears = [await listen(driver, tmux_server, pane) for _ in range(3)]
        tmux_server.type(pane, "go")
        heard = set()
        for ear in ears:
            data, end = await hear(driver, ear)
            assert end == CLOSED
            heard.add(data.replace(b"\r\r", b"\r"))
        assert len(heard) == 1
        return heard.pop()

    async def main(driver: Driver) -> None:
        # A busy tmux itself now and then does not read all that a process that has ended wrote.
        for _ in range(3):
            heard = await words(driver)
            assert whole.startswith(heard)
            if heard == whole:
                return
        pytest.fail("the last words were missed three times")

    run(main)


def resident(pid: int) -> int:
    """Return how many bytes of memory a process has."""
    status = Path(f"/proc/{pid}/status").read_text()
    return int(status.partition("VmRSS:")[2].split()[0]) * 1024


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="needs /proc")
@pytest.mark.parametrize("regex", [False, True], ids=["literal", "regex"])
def test_a_blocked_loop_holds_up_neither_the_pane_nor_tmux(
    tmux_server: TmuxServerFixture, tmp_path: Path, regex: bool
) -> None:
    lines, size = 300_000, 300_000 * 60
    done = tmp_path / "done"
    log = tmp_path / "log"
    log.write_text("".join(f"{n:<58}\n" for n in range(lines)))
    pane = tmux_server.pane(f"read go; cat {log} {log}; echo THE END; touch {done}; exec cat")

    async def main() -> None:
        async with TmuxServer(tmux_server.name, tmux=tmux_server.binary) as server:
            word = "THE (END)" if regex else "the end"
            waiting = asyncio.ensure_future(
                server.wait_for_text(pane, [word], regex=regex, fresh=True, seconds=60)
            )
            while not pipe_processes(tmux_server):
                await asyncio.sleep(0.01)
            while tmux_server.get(pane, "#{pane_pipe}") != "1":
                await asyncio.sleep(0.01)
            await asyncio.sleep(0.1)
            tmux_server.type(pane, "go")
            before, most = resident(tmux_server.pid), 0
            deadline = time.monotonic() + 3 * PATIENCE
            while not done.exists():  # the loop is blocked
                assert time.monotonic() < deadline, "the pane's program was held up"
                most = max(most, resident(tmux_server.pid))
                time.sleep(0.02)
            assert most - before < size // 2, "tmux kept what it could not pass on"
            result = await waiting
        assert result.outcome is WaitOutcome.MATCHED
        assert result.complete
        # Every byte was heard, each line feed with a carriage return before it.
        written = len("go\r\n") + 2 * lines * 60 + len("THE END\r\n")
        assert result.bytes == written

    asyncio.run(main())


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="needs /proc")
def test_literals_are_looked_for_while_the_loop_is_blocked_and_nothing_is_stored(
    tmux_server: TmuxServerFixture, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lent: list[bool] = []
    lend = Reader.lend

    def counted(reader: Reader, scanner: LineScanner) -> None:
        lent.append(True)
        lend(reader, scanner)

    monkeypatch.setattr(Reader, "lend", counted)
    monkeypatch.setattr(drain, "Stream", partial(drain.Stream, spool=0))
    lines, done, log = 150_000, tmp_path / "done", tmp_path / "log"
    log.write_text("".join(f"{n:<58}\n" for n in range(lines)))
    pane = tmux_server.pane(f"read go; cat {log} {log} {log}; echo THE END; touch {done}; cat")

    async def main() -> None:
        async with TmuxServer(tmux_server.name, tmux=tmux_server.binary) as server:
            waiting = asyncio.ensure_future(
                server.wait_for_text(pane, ["the end"], fresh=True, seconds=60)
            )
            while not pipe_processes(tmux_server):
                await asyncio.sleep(0.01)
            while tmux_server.get(pane, "#{pane_pipe}") != "1":
                await asyncio.sleep(0.01)
            tmux_server.type(pane, "go")
            while not lent:
                await asyncio.sleep(0.001)
            deadline = time.monotonic() + 3 * PATIENCE
            while not done.exists():  # the loop is blocked
                assert time.monotonic() < deadline, "the pane's program was held up"
                time.sleep(0.02)
            result = await waiting
        assert (result.outcome, result.matched_line) == (WaitOutcome.MATCHED, "THE END")
        assert result.complete
        whole = "".join(f"{n:<58}\n" for n in range(lines - 4000, lines)) + "THE END"
        assert "\n".join(line.rstrip() for line in whole.split("\n")) in "\n".join(
            line.rstrip() for line in result.text.split("\n")
        )

    asyncio.run(main())


def test_64_panes_and_256_waits_in_one_process(tmux_server: TmuxServerFixture) -> None:
    chance = random.Random(64)
    panes = [tmux_server.pane() for _ in range(64)]

    async def main() -> None:
        async with TmuxServer(tmux_server.name, tmux=tmux_server.binary) as server:
            jobs = {}
            for first in range(0, 64, 8):  # not 256 tmux clients at once
                for pane in panes[first : first + 8] * 4:
                    word = f"mark {len(jobs)}."
                    waiting = server.wait_for_text(pane, [word], fresh=True, seconds=120)
                    jobs[word] = (pane, asyncio.ensure_future(waiting))
                await listening(32 * (first // 8 + 1))
            assert len(pipe_processes(tmux_server)) == 64
            words = list(jobs)
            chance.shuffle(words)
            for word in words:
                pane, waiting = jobs[word]
                tmux_server.type(pane, word)
                result = await waiting
                assert (result.outcome, result.pane) == (WaitOutcome.MATCHED, pane)
                assert (result.matched_pattern, result.backend) == (word, "tap")

    async def listening(many: int) -> None:
        """Wait until so many waits have made their cut: each watches its pane's process then."""
        deadline = time.monotonic() + 3 * PATIENCE
        while watched() < many:
            assert time.monotonic() < deadline, f"{watched()} of {many} waits listen"
            await asyncio.sleep(0.02)

    asyncio.run(main())
    assert pipe_processes(tmux_server) == []


def watched() -> int:
    """Return how many processes this one watches."""
    targets = []
    for fd in Path("/proc/self/fd").iterdir():
        with suppress(OSError):  # the listing's own
            targets.append(str(fd.readlink()))
    return targets.count("anon_inode:[pidfd]")
