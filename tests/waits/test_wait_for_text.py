"""Real waits on real panes, through the blocking call and through asyncio."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import textwrap
import threading
from collections.abc import Sequence
from pathlib import Path

import libtmux
import pytest
from conftest import PATIENCE, SECOND_EAR, VERSION, TmuxServerFixture, wait_until, with_each_ear
from real_waits import Wait, during, wait

from tmux_wait import TmuxServer, TmuxWaitError, WaitOutcome, WaitResult, wait_for_text

__all__ = ["wait"]  # the fixture
NOISE = (
    "i=0; while [ $i -lt 20000 ]; do echo noise $i; i=$((i+1)); done;"
    " echo server ready; exec sleep 100"
)


def shell(server: TmuxServerFixture, *argv: str, width: int = 80) -> str:
    """Start an interactive shell with a plain prompt; return its pane once it shows it."""
    pane = server.pane("env", "PS1=ready$ ", "ENV=", "TERM=screen", *argv, width=width)
    server.shows(pane, "ready$")
    return pane


SHELLS = {"bash": ("bash", "--norc", "--noprofile", "-i"), "dash": ("dash", "-i")}


@with_each_ear
def test_a_line_among_noise(tmux_server: TmuxServerFixture, wait: Wait, backend: str) -> None:
    pane = tmux_server.pane("sh", "-c", NOISE)
    result = wait(pane, ["server ready"], backend=backend)
    assert result.outcome in (WaitOutcome.MATCHED, WaitOutcome.PRESENT_AT_ENTRY)
    assert result.matched_line == "server ready"
    assert result.pane == pane
    assert tmux_server.get(pane, "#{pane_pipe}") == "0"


def test_the_last_words_of_a_closing_pane(tmux_server: TmuxServerFixture, wait: Wait) -> None:
    tmux_server.pane()
    unread = []
    for _ in range(30 if wait.__name__ == "blocking" else 5):
        pane = tmux_server.tmux(
            "split-window", "-d", "-P", "-F", "#{pane_id}",
            "read x; i=0; while [ $i -lt 200 ]; do echo noise $i; i=$((i+1)); done;"
            " echo FATAL: no port; exit 1",
        )  # fmt: skip
        result = wait(pane, ["server ready"], stop=["FATAL"], keys=["Enter"])
        if result.outcome is WaitOutcome.STOPPED:
            assert (result.matched_index, result.matched_line) == (0, "FATAL: no port")
        else:
            assert result.outcome is WaitOutcome.PANE_CLOSED, result
            unread.append(result.text)
    # On a busy machine tmux itself now and then drops a pane before it has read all of its
    # terminal; a quiet one loses none of 150.
    assert len(unread) <= 2, unread


@pytest.mark.parametrize(
    "written",
    [
        r"rea\033[1;32mdy\033(B\033[m",
        r"rea\017dy",
        r"r\033]0;title\007eady",
        r"rea\033]2;title\033\\dy",
    ],
)
def test_escape_sequences_between_the_letters(
    tmux_server: TmuxServerFixture, wait: Wait, written: str
) -> None:
    pane = tmux_server.pane("sh", "-c", f"read x; printf '{written}\\n'; exec cat")
    result = wait(pane, ["ready"], keys=["Enter"])
    assert (result.outcome, result.matched_line) == (WaitOutcome.MATCHED, "ready")


@pytest.mark.parametrize("width", [80, 22])
@pytest.mark.parametrize("name", SHELLS)
@with_each_ear
def test_what_is_sent_is_not_its_own_answer(
    tmux_server: TmuxServerFixture, wait: Wait, name: str, width: int, backend: str
) -> None:
    pane = shell(tmux_server, *SHELLS[name], width=width)
    go = tmux_server.folder / "go"
    command = f"until [ -e {go} ]; do sleep .05; done; echo MARK"
    looked = threading.Thread(target=lambda: (tmux_server.shows(pane, "MARK"), go.touch()))
    looked.start()
    result = wait(pane, ["MARK"], send=command, backend=backend)
    looked.join()
    assert result.outcome is WaitOutcome.MATCHED
    assert result.matched_line == "MARK"
    assert result.backend == backend


@pytest.mark.parametrize("name", SHELLS)
def test_only_the_echo_of_what_is_sent(
    tmux_server: TmuxServerFixture, wait: Wait, name: str
) -> None:
    pane = shell(tmux_server, *SHELLS[name])
    result = wait(pane, ["MARK"], send=": MARK", seconds=0.6)
    assert result.outcome is WaitOutcome.DEADLINE, result


@pytest.mark.parametrize("name", SHELLS)
def test_output_that_repeats_the_whole_line(
    tmux_server: TmuxServerFixture, wait: Wait, name: str
) -> None:
    pane = shell(tmux_server, *SHELLS[name])
    result = wait(pane, ["echo MARK"], send="echo echo MARK")
    assert (result.outcome, result.matched_line) == (WaitOutcome.MATCHED, "echo MARK")


@pytest.mark.parametrize("name", SHELLS)
def test_typed_before_the_shell_has_a_prompt(
    tmux_server: TmuxServerFixture, wait: Wait, name: str
) -> None:
    go = tmux_server.folder / "go"
    pane = tmux_server.pane(
        "sh", "-c", f"until [ -e {go} ]; do sleep .05; done; PS1='ready$ ' exec \"$@\"", "sh",
        *SHELLS[name],
    )  # fmt: skip

    def release() -> None:
        tmux_server.shows(pane, ": MARK")
        go.touch()

    looked = threading.Thread(target=release)
    looked.start()
    result = wait(pane, ["MARK"], send=": MARK", seconds=2)
    looked.join()
    assert result.outcome is WaitOutcome.DEADLINE, result


def test_several_lines_are_sent_in_one_step(tmux_server: TmuxServerFixture, wait: Wait) -> None:
    pane = shell(tmux_server, *SHELLS["dash"])
    result = wait(pane, ["twoMARK"], send="a=two\necho ${a}MARK")
    assert result.outcome is WaitOutcome.MATCHED
    assert result.matched_line is not None
    assert result.matched_line.endswith("twoMARK")  # behind a prompt if it was typed ahead


def test_a_pattern_that_already_stands_there(tmux_server: TmuxServerFixture, wait: Wait) -> None:
    pane = tmux_server.pane("sh", "-c", "echo server ready; echo up; exec cat")
    tmux_server.shows(pane, "up")
    result = wait(pane, ["READY"])
    assert (result.outcome, result.matched_line) == (WaitOutcome.PRESENT_AT_ENTRY, "server ready")
    wait_until(lambda: tmux_server.get(pane, "#{pane_pipe}") == "0")


def test_half_a_pattern_at_entry_and_half_later(tmux_server: TmuxServerFixture, wait: Wait) -> None:
    pane = tmux_server.pane(
        "sh", "-c", "stty -echo; printf 'server rea'; read x; echo dy; exec cat"
    )
    tmux_server.shows(pane, "server rea")
    result = wait(pane, ["ready"], keys=["Enter"])
    assert (result.outcome, result.matched_line) == (WaitOutcome.MATCHED, "server ready")


def test_pending_on_the_cursors_row(tmux_server: TmuxServerFixture, wait: Wait) -> None:
    pane = shell(tmux_server, *SHELLS["bash"])
    tmux_server.type(pane, "echo MARK", enter=False)
    tmux_server.shows(pane, "MARK")
    assert wait(pane, ["MARK"]).outcome is WaitOutcome.PENDING
    assert wait(pane, ["MARK"], pending="accept").outcome is WaitOutcome.PRESENT_AT_ENTRY
    assert wait(pane, ["MARK"], seconds=0).outcome is WaitOutcome.PENDING


def test_seconds_zero_looks_once(tmux_server: TmuxServerFixture, wait: Wait) -> None:
    pane = tmux_server.pane()
    result = wait(pane, ["x"], seconds=0)
    assert (result.outcome, result.backend) == (WaitOutcome.DEADLINE, "none")


def test_any_output(tmux_server: TmuxServerFixture, wait: Wait) -> None:
    pane = tmux_server.pane(
        "sh", "-c", "stty -echo; read x; printf '\\033]0;t\\007'; echo hello; cat"
    )
    tmux_server.shows(pane, "")
    result = wait(pane, keys=["Enter"])
    assert result.outcome is WaitOutcome.MATCHED
    assert result.matched_index is None


def test_a_regular_expression(tmux_server: TmuxServerFixture, wait: Wait) -> None:
    pane = tmux_server.pane("sh", "-c", "read x; echo listening on port 8080; exec cat")
    result = wait(pane, [r"port \d+$"], regex=True, keys=["Enter"])
    assert (result.outcome, result.matched_line) == (
        WaitOutcome.MATCHED, "listening on port 8080",
    )  # fmt: skip


def test_a_killed_pane(tmux_server: TmuxServerFixture, wait: Wait) -> None:
    tmux_server.pane()
    pane = tmux_server.tmux("split-window", "-d", "-P", "-F", "#{pane_id}", "exec cat")
    result = during(lambda: wait(pane, ["x"]), lambda _: tmux_server.tmux("kill-pane", "-t", pane))
    assert result.outcome is WaitOutcome.PANE_CLOSED


@with_each_ear
@pytest.mark.parametrize("remains", [False, True], ids=["closes", "remains"])
def test_a_closed_pane_says_whether_tmux_may_have_dropped_its_last_words(
    tmux_server: TmuxServerFixture, wait: Wait, backend: str, remains: bool
) -> None:
    tmux_server.pane()
    pane = tmux_server.pane("read x; echo bye; sleep 0.1")
    tmux_server.tmux("set-option", "-w", "-t", pane, "remain-on-exit", "on" if remains else "off")
    result = wait(pane, ["x"], keys=["Enter"], backend=backend)
    assert (result.outcome, result.backend) == (WaitOutcome.PANE_CLOSED, backend)
    assert "bye" in result.text or not result.complete
    certain = {"tap": VERSION >= (3, 3), "control": remains, "poll": False}
    assert result.complete == certain[backend]


def test_a_killed_server(tmux_server: TmuxServerFixture, wait: Wait) -> None:
    pane = tmux_server.pane()
    result = during(lambda: wait(pane, ["x"]), lambda _: tmux_server.run("kill-server"))
    assert result.outcome is WaitOutcome.PANE_CLOSED


def test_a_pane_that_remains_on_exit(tmux_server: TmuxServerFixture, wait: Wait) -> None:
    pane = tmux_server.pane("sh", "-c", "read x; echo FATAL: no port; exit 3")
    tmux_server.tmux("set-option", "-w", "-t", pane, "remain-on-exit", "on")
    result = wait(pane, ["ready"], stop=["fatal"], keys=["Enter"])
    assert (result.outcome, result.matched_line) == (WaitOutcome.STOPPED, "FATAL: no port")
    wait_until(lambda: tmux_server.get(pane, "#{pane_dead}") == "1", "the pane's death")
    assert wait(pane, ["ready"]).outcome is WaitOutcome.PANE_CLOSED
    seen = wait(pane, ["no port"])
    assert (seen.outcome, seen.matched_line) == (WaitOutcome.PRESENT_AT_ENTRY, "FATAL: no port")


def test_a_respawned_pane_goes_on(tmux_server: TmuxServerFixture, wait: Wait) -> None:
    pane = tmux_server.pane()
    respawn = ("respawn-pane", "-k", "-t", pane, "sh -c 'echo new program; exec cat'")
    result = during(lambda: wait(pane, ["new program"]), lambda _: tmux_server.tmux(*respawn))
    assert (result.outcome, result.matched_line) == (WaitOutcome.MATCHED, "new program")


def test_a_users_pipe_stays_and_the_pane_is_heard_otherwise(
    tmux_server: TmuxServerFixture, wait: Wait
) -> None:
    log = tmux_server.folder / "log"
    pane = tmux_server.pane()
    tmux_server.tmux("pipe-pane", "-t", pane, f"cat >> {log}")
    result = wait(pane, ["one"], keys=["o", "n", "e", "Enter"])
    assert (result.outcome, result.backend) == (WaitOutcome.MATCHED, SECOND_EAR)
    assert result.complete == (SECOND_EAR == "control")
    assert tmux_server.get(pane, "#{pane_pipe}") == "1"
    tmux_server.type(pane, "two")
    wait_until(lambda: log.exists() and b"two" in log.read_bytes(), "the user's log")
    assert b"one" in log.read_bytes()


BAD: list[tuple[str, Sequence[object], dict[str, object], str]] = [
    ("unknown pane", ("%999", ["x"]), {}, "%999"),
    ("no pane", ("", ["x"]), {}, "pane"),
    ("negative seconds", ("%0", ["x"]), {"seconds": -1}, "seconds"),
    ("not a number of seconds", ("%0", ["x"]), {"seconds": float("nan")}, "seconds"),
    ("endless seconds", ("%0", ["x"]), {"seconds": float("inf")}, "seconds"),
    ("empty pattern", ("%0", [""]), {}, "patterns[0]"),
    ("too many patterns", ("%0", ["x"] * 33), {}, "33"),
    ("too long a pattern", ("%0", ["x" * 4097]), {}, "4,097"),
    ("bad expression", ("%0", ["ok"]), {"stop": ["a("], "regex": True}, "stop[0]"),
    ("unknown backend", ("%0", ["x"]), {"backend": "ears"}, "ears"),
    ("unknown pending", ("%0", ["x"]), {"pending": "maybe"}, "pending"),
]


@pytest.mark.parametrize(
    ("args", "options", "said"), [case[1:] for case in BAD], ids=[case[0] for case in BAD]
)
def test_what_cannot_be_done_is_one_clear_sentence(
    tmux_server: TmuxServerFixture,
    wait: Wait,
    args: Sequence[object],
    options: dict[str, object],
    said: str,
) -> None:
    pane = tmux_server.pane()
    assert pane == "%0"
    with pytest.raises(TmuxWaitError) as refused:
        wait(*args, **options)
    assert said in str(refused.value)
    assert "\n" not in str(refused.value)
    assert tmux_server.get(pane, "#{pane_pipe}") == "0"


def test_no_server_at_all(wait: Wait) -> None:
    with pytest.raises(TmuxWaitError, match="no tmux server"):
        wait("%0", ["x"])


def test_a_libtmux_pane(tmux_server: TmuxServerFixture) -> None:
    tmux_server.pane("sh", "-c", "echo ready; exec cat")
    server = libtmux.Server(socket_name=tmux_server.name, tmux_bin=tmux_server.binary)
    pane = server.panes[0]

    async def main() -> WaitResult:
        async with TmuxServer.from_libtmux(server) as waiter:
            return await waiter.wait_for_text(pane, ["ready"], seconds=PATIENCE)

    assert asyncio.run(main()).matched_line == "ready"


def test_many_waits_at_once_on_many_panes(tmux_server: TmuxServerFixture) -> None:
    panes = [tmux_server.pane() for _ in range(12)]

    async def main() -> list[WaitResult]:
        async with TmuxServer(tmux_server.name, tmux=tmux_server.binary) as server:
            return await asyncio.gather(
                *(
                    server.wait_for_text(pane, ["answer"], send=f"answer {pane}", seconds=PATIENCE)
                    for pane in panes
                )
            )

    for pane, result in zip(panes, asyncio.run(main()), strict=True):
        assert (result.pane, result.matched_line) == (pane, f"answer {pane}")
        assert tmux_server.get(pane, "#{pane_pipe}") == "0"


def test_cancelling_leaves_nothing(tmux_server: TmuxServerFixture) -> None:
    pane = tmux_server.pane()

    async def main() -> None:
        async with TmuxServer(tmux_server.name, tmux=tmux_server.binary) as server:
            waiting = asyncio.ensure_future(server.wait_for_text(pane, ["x"]))
            while tmux_server.get(pane, "#{pane_pipe}") != "1":
                await asyncio.sleep(0.01)
            waiting.cancel()
            with pytest.raises(asyncio.CancelledError):
                await waiting
            while tmux_server.get(pane, "#{pane_pipe}") == "1":
                await asyncio.sleep(0.01)

    asyncio.run(asyncio.wait_for(main(), PATIENCE))


def test_closing_the_server_object_cancels_its_waits(tmux_server: TmuxServerFixture) -> None:
    pane = tmux_server.pane()

    async def main() -> WaitResult:
        async with TmuxServer(tmux_server.name, tmux=tmux_server.binary) as server:
            waiting = asyncio.ensure_future(server.wait_for_text(pane, ["x"]))
            while tmux_server.get(pane, "#{pane_pipe}") != "1":
                await asyncio.sleep(0.01)
        assert tmux_server.get(pane, "#{pane_pipe}") == "0"
        return await waiting

    assert asyncio.run(asyncio.wait_for(main(), PATIENCE)).outcome is WaitOutcome.CANCELLED


def test_a_server_object_that_is_not_open_says_so() -> None:
    with pytest.raises(TmuxWaitError, match="async with"):
        asyncio.run(TmuxServer("none").wait_for_text("%0", ["x"]))


def test_a_killed_waiter_is_cleaned_up_behind(tmux_server: TmuxServerFixture) -> None:
    pane = tmux_server.pane()
    code = (
        "import sys, tmux_wait;"
        "tmux_wait.wait_for_text('%0', ['x'], socket_name=sys.argv[1], tmux=sys.argv[2])"
    )
    waiter = subprocess.Popen([sys.executable, "-c", code, tmux_server.name, tmux_server.binary])
    try:
        wait_until(lambda: tmux_server.get(pane, "#{pane_pipe}") == "1", "the ear")
    finally:
        os.kill(waiter.pid, signal.SIGKILL)
        waiter.wait(PATIENCE)
    result = wait_for_text(
        pane, ["hello"], send="hello", seconds=PATIENCE, socket_name=tmux_server.name,
        tmux=tmux_server.binary,
    )  # fmt: skip
    assert (result.outcome, result.backend) == (WaitOutcome.MATCHED, "tap")
    assert tmux_server.get(pane, "#{pane_pipe}") == "0"


def test_importing_is_light() -> None:
    code = textwrap.dedent("""
        import sys, tmux_wait
        heavy = {"asyncio", "libtmux", "mcp", "re2", "anyio"} & set(sys.modules)
        assert not heavy, heavy
    """)
    subprocess.run([sys.executable, "-c", code], check=True, timeout=PATIENCE, cwd=Path("/"))
