"""The poll ear on a real tmux: rows new and changed, nothing open, nothing told twice."""

from __future__ import annotations

import pytest
from conftest import PATIENCE, TmuxServerFixture, wait_until
from ears import Main, listen, on_both_drivers, run_blocking, see

from tmux_wait.drive import Driver
from tmux_wait.observe import Rows, poll
from tmux_wait.observe.typing import Typing

pytestmark = pytest.mark.usefixtures("spotless")


@on_both_drivers
def test_what_is_written_after_the_cut_is_seen_once(
    run: Main, tmux_server: TmuxServerFixture
) -> None:
    pane = tmux_server.pane("stty -echo; echo old; exec cat", height=5)
    tmux_server.shows(pane, "old")

    async def main(driver: Driver) -> None:
        ear = await listen(driver, tmux_server, pane, backend="poll")
        assert (ear.name, ear.complete) == ("poll", False)
        everything = []
        for number in range(12):
            tmux_server.type(pane, f"line {number}")
            seen, _ = await see(driver, ear, f"line {number}")
            everything += [row for row in seen if row]
        assert everything == [f"line {number}" for number in range(12)]

    run(main)


@on_both_drivers
def test_a_row_that_changes_is_seen_each_time_it_is_looked_at(
    run: Main, tmux_server: TmuxServerFixture
) -> None:
    pane = tmux_server.pane("stty -echo; while read x; do printf '\\r%s done' \"$x\"; done")

    async def main(driver: Driver) -> None:
        ear = await listen(driver, tmux_server, pane, backend="poll")
        for percent in ("10 %", "20 %", "100 %"):
            tmux_server.type(pane, percent)
            await see(driver, ear, f"{percent} done")

    run(main)


@on_both_drivers
def test_more_than_a_screen_between_two_looks_is_seen(
    run: Main, tmux_server: TmuxServerFixture
) -> None:
    pane = tmux_server.pane("read go; seq 1 900; exec cat", height=5)

    async def main(driver: Driver) -> None:
        ear = await listen(driver, tmux_server, pane, backend="poll", typing=Typing("go"))
        seen, _ = await see(driver, ear, "900")
        assert [row for row in seen if row.isdecimal()] == [str(n) for n in range(1, 901)]

    run(main)


def test_a_flood_past_the_history_is_a_gap_and_its_end_is_seen(
    tmux_server: TmuxServerFixture,
) -> None:
    pane = tmux_server.pane("read go; seq 1 30000; exec cat", height=5)

    async def main(driver: Driver) -> None:
        ear = await listen(driver, tmux_server, pane, backend="poll", typing=Typing("go"))
        gap, last = False, ""
        while last != "30000":
            found = await ear.next(driver.now() + PATIENCE)
            assert isinstance(found, Rows)
            gap = gap or found.gap
            last = next((row.text for row in reversed(found.rows) if row.text), last)
        assert gap

    run_blocking(main)


def test_a_full_history_that_is_trimmed_tells_nothing_twice(
    tmux_server: TmuxServerFixture,
) -> None:
    keeper = tmux_server.pane()
    tmux_server.tmux("set-option", "-g", "history-limit", "60")
    pane = tmux_server.pane("stty -echo; seq 1 62; exec cat", height=5)
    tmux_server.shows(pane, "62")
    assert keeper != pane

    async def main(driver: Driver) -> None:
        ear = await listen(driver, tmux_server, pane, backend="poll")
        everything = []
        for number in range(20):
            tmux_server.type(pane, f"line {number}")
            seen, _ = await see(driver, ear, f"line {number}")
            everything += [row for row in seen if row]
        assert everything == [f"line {number}" for number in range(20)]

    run_blocking(main)


@on_both_drivers
def test_quiet_is_said_once(run: Main, tmux_server: TmuxServerFixture) -> None:
    pane = tmux_server.pane()

    async def main(driver: Driver) -> None:
        ear = await listen(driver, tmux_server, pane, backend="poll")
        first = await ear.next(driver.now() + PATIENCE)
        assert isinstance(first, Rows)
        assert (first.quiet, list(first.rows), first.gap) == (True, [], False)
        assert await ear.next(driver.now() + 3 * poll.INTERVAL) is None
        tmux_server.type(pane, "x", enter=False)
        seen, _ = await see(driver, ear, "x")
        again = await ear.next(driver.now() + PATIENCE)
        assert isinstance(again, Rows)
        assert again.quiet, seen

    run(main)


@on_both_drivers
def test_looks_get_rarer_when_nothing_comes(
    run: Main, tmux_server: TmuxServerFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(poll, "INTERVAL", 0.01)
    monkeypatch.setattr(poll, "LONG_QUIET", 0.05)
    monkeypatch.setattr(poll, "SLOW_INTERVAL", 5.0)
    pane = tmux_server.pane()

    async def main(driver: Driver) -> None:
        ear = await listen(driver, tmux_server, pane, backend="poll")
        assert isinstance(ear, poll.Poll)
        await ear.next(driver.now() + 0.5)
        await ear.next(driver.now() + 0.5)
        assert ear._next_look - driver.now() > 1

    run(main)


@on_both_drivers
def test_a_full_screen_program_is_seen_and_its_end_brings_nothing_old(
    run: Main, tmux_server: TmuxServerFixture
) -> None:
    program = "stty -echo; echo error: old; read x; printf '\\033[?1049h\\033[Hmenu'; read x; "
    pane = tmux_server.pane(program + "printf '\\033[?1049l'; echo back; exec cat")
    tmux_server.shows(pane, "error: old")

    async def main(driver: Driver) -> None:
        ear = await listen(driver, tmux_server, pane, backend="poll")
        tmux_server.type(pane, "")
        await see(driver, ear, "menu")
        tmux_server.type(pane, "")
        seen, _ = await see(driver, ear, "back")
        assert "error: old" not in seen

    run(main)


@on_both_drivers
def test_a_resized_pane_tells_nothing_twice(run: Main, tmux_server: TmuxServerFixture) -> None:
    pane = tmux_server.pane("stty -echo; seq 1 50; exec cat")
    tmux_server.shows(pane, "50")

    async def main(driver: Driver) -> None:
        ear = await listen(driver, tmux_server, pane, backend="poll")
        seen: list[str] = []
        for number, (width, height) in enumerate([(60, 24), (60, 40), (100, 10), (80, 24)]):
            tmux_server.tmux("resize-window", "-t", pane, "-x", str(width), "-y", str(height))
            tmux_server.type(pane, f"line {number}")
            seen += (await see(driver, ear, f"line {number}"))[0]
        assert [row for row in seen if row.isdecimal()] == []

    run(main)


@on_both_drivers
def test_wrapped_lines_are_seen_whole(run: Main, tmux_server: TmuxServerFixture) -> None:
    pane = tmux_server.pane("stty -echo; exec cat", width=20, height=5)

    async def main(driver: Driver) -> None:
        ear = await listen(driver, tmux_server, pane, backend="poll")
        for letter in "abcdef":
            tmux_server.type(pane, letter * 70)
            seen, _ = await see(driver, ear, letter * 70)
            # A look may find a part of the line, but no part of it on a row of its own.
            assert all((letter * 70).startswith(row) for row in seen)
            assert seen.count(letter * 70) == 1

    run(main)


def test_a_quiet_pane_costs_no_more_than_a_look_an_interval(
    tmux_server: TmuxServerFixture,
) -> None:
    pane = tmux_server.pane()

    async def main(driver: Driver) -> int:
        ear = await listen(driver, tmux_server, pane, backend="poll")
        looks = 0
        run_tmux = type(ear.tmux).run  # type: ignore[attr-defined]

        async def counted(*args, **how):  # type: ignore[no-untyped-def]
            nonlocal looks
            looks += 1
            return await run_tmux(*args, **how)

        with pytest.MonkeyPatch.context() as patched:
            patched.setattr(type(ear.tmux), "run", counted)  # type: ignore[attr-defined]
            limit = driver.now() + 5 * poll.INTERVAL
            while driver.now() < limit:
                await ear.next(limit)
        return looks

    assert run_blocking(main) <= 6, "five and the one when the time has come"
    wait_until(lambda: tmux_server.get(pane, "#{pane_pipe}") == "0")


@on_both_drivers
def test_what_came_since_the_last_look_is_seen_when_the_time_has_come(
    run: Main, tmux_server: TmuxServerFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(poll, "INTERVAL", 3600.0)
    pane = tmux_server.pane()

    async def main(driver: Driver) -> None:
        ear = await listen(driver, tmux_server, pane, backend="poll")
        tmux_server.type(pane, "just in time")
        wait_until(lambda: tmux_server.screen(pane).count("just in time") == 2)
        found = await ear.next(driver.now())
        assert isinstance(found, Rows)
        assert [row.text for row in found.rows if row.text] == ["just in time"] * 2

    run(main)
