"""The cut on a real tmux: the rows of the screen, the line of the cursor, and the pane's state."""

from __future__ import annotations

from dataclasses import dataclass

import pytest
from conftest import EARS, PATIENCE, VERSION, TmuxServerFixture, wait_until
from ears import Main, listen, on_both_drivers, reach

from tmux_wait.drive import Driver, blocking
from tmux_wait.observe.choose import look
from tmux_wait.observe.entry import Entry

pytestmark = pytest.mark.usefixtures("spotless")

END = "\\033]2;ready\\007"  # a title, which shows that all before it was written


def seen(server: TmuxServerFixture, pane: str) -> Entry:
    """Look once."""
    return blocking.run(
        lambda driver: look(driver, reach(server), pane, until=driver.now() + PATIENCE)
    )


def printed(server: TmuxServerFixture, text: str, width: int = 20, height: int = 6) -> Entry:
    """Return the entry of a pane on which ``printf`` wrote ``text``."""
    pane = server.pane(f"printf '{text}{END}'; exec cat", width=width, height=height)
    wait_until(lambda: server.get(pane, "#{pane_title}") == "ready")
    return seen(server, pane)


@dataclass(frozen=True)
class Case:
    """What is printed on 20 x 6 cells, and the entry that it makes."""

    text: str
    rows: tuple[str, ...]
    cursor: tuple[int, int]


FULL = "12345678901234567890"
BLANK5, BLANK4, BLANK3 = ("",) * 5, ("",) * 4, ("",) * 3
CASES = {
    "nothing": Case("", ("", *BLANK5), (0, 0)),
    "a prompt": Case("a\\nb$ ", ("a", "b$", *BLANK4), (1, 3)),
    "a finished line": Case("a\\n", ("a", "", *BLANK4), (1, 0)),
    "a wrapped line": Case(f"{FULL}123\\nx", (f"{FULL}123", "x", *BLANK3), (1, 1)),
    "a wrapped prompt": Case(f"a\\n{FULL}12$ ", ("a", f"{FULL}12$", *BLANK3), (1, 24)),
    "wrapped over three rows": Case(f"{FULL}{FULL}1", (f"{FULL}{FULL}1", *BLANK3), (0, 41)),
    "a row exactly full": Case(f"{FULL}\\nnext", (FULL, "next", *BLANK4), (1, 4)),
    "two rows exactly full": Case(f"{FULL}{FULL}\\nx", (f"{FULL}{FULL}", "x", *BLANK3), (1, 1)),
    # tmux keeps the cursor on the last cell; only the next character wraps.
    "the cursor behind a full row": Case(FULL, (FULL, *BLANK5), (0, 20)),
    "blank rows between": Case("a\\n\\n\\nb", ("a", "", "", "b", "", ""), (3, 1)),
    "blanks at the wrap": Case(
        "1234567890123456789  b", ("1234567890123456789  b", *BLANK4), (0, 22)
    ),
    "wide characters": Case("漢字é\\n漢$", ("漢字é", "漢$", *BLANK4), (1, 3)),
    "a wide character that does not fit": Case(
        "1234567890123456789漢x", ("1234567890123456789漢x", *BLANK4), (0, 22)
    ),
    "an emoji and a combining mark": Case("😀e\u0301$", ("😀e\u0301$", *BLANK4, ""), (0, 4)),
    "tabs": Case("a\\tb\\n\\tc", ("a       b", "        c", *BLANK4), (1, 9)),
    "the cursor moved up": Case("a\\nb\\nc\\033[1;2H", ("a", "b", "c", *BLANK3), (0, 1)),
    "the cursor beyond the text": Case("a\\033[1;11H", ("a", *BLANK5), (0, 10)),
    "what scrolled off is not there": Case(
        "".join(f"{n}\\n" for n in range(9)), ("4", "5", "6", "7", "8", ""), (5, 0)
    ),
    "a line whose head scrolled off": Case(
        f"{FULL}{FULL}z\\n1\\n2\\n3\\n4$", (f"{FULL}{FULL}z", "1", "2", "3", "4$"), (4, 2)
    ),
    "colours": Case("\\033[31mred\\033[m$ ", ("red$", *BLANK5), (0, 5)),
}


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_rows_and_cursor(tmux_server: TmuxServerFixture, case: Case) -> None:
    entry = printed(tmux_server, case.text)
    assert entry.rows == case.rows
    assert (entry.cursor_row, entry.cursor_cell) == case.cursor


def test_the_state_of_the_pane(tmux_server: TmuxServerFixture) -> None:
    pane = tmux_server.pane(width=33, height=7)
    entry = seen(tmux_server, pane)
    assert entry.pane == pane
    assert entry.server_pid == tmux_server.pid
    assert entry.server_version == tmux_server.get(pane, "#{version}")
    assert entry.pane_pid == int(tmux_server.get(pane, "#{pane_pid}"))
    assert (entry.width, entry.height, entry.history_size) == (33, 7, 0)
    assert (entry.dead, entry.dead_status, entry.in_mode) == (False, None, False)
    assert (entry.alternate, entry.piped) == (False, False)


def test_a_mode_the_alternate_screen_and_a_pipe_are_seen(tmux_server: TmuxServerFixture) -> None:
    pane = tmux_server.pane("printf '\\033[?1049hfull screen'; exec cat")
    tmux_server.shows(pane, "full screen")
    tmux_server.tmux("copy-mode", "-t", pane)
    tmux_server.tmux("pipe-pane", "-t", pane, "cat >/dev/null")
    entry = seen(tmux_server, pane)
    assert (entry.in_mode, entry.alternate, entry.piped) == (True, True, True)
    assert entry.rows[0] == "full screen", "the pane's own screen, not the mode's"


# A busy tmux may drop what a program writes right before it ends.
DIES = "seq 1 9; echo LAST; sleep 0.1; exit 3"


@pytest.mark.parametrize("width", [80, 30, 20])
@on_both_drivers
def test_a_dead_pane_shows_what_its_program_wrote(
    run: Main, tmux_server: TmuxServerFixture, width: int
) -> None:
    """tmux's banner hides the last line, or (3.1c, narrow) pushes off several."""
    keeper = tmux_server.pane()
    tmux_server.tmux("set-option", "-g", "remain-on-exit", "on")
    pane = tmux_server.pane(DIES, width=width, height=4)
    wait_until(lambda: tmux_server.get(pane, "#{pane_dead}") == "1")
    assert keeper != pane

    async def main(driver: Driver) -> Entry:
        for backend in ("auto", *EARS):
            ear = await listen(driver, tmux_server, pane, backend=backend)
            assert ear.entry.dead
            assert str(await ear.next(None)) == "Ended(reason=<EndReason.CLOSED: 'closed'>)"
            await ear.close()
        return await look(driver, reach(tmux_server), pane, until=driver.now() + PATIENCE)

    entry = run(main)
    assert entry.rows == ("8", "9", "LAST", "")
    # 3.1c and 3.3a may learn of the status, and draw the banner, only when another child ends.
    assert entry.dead_status in (3, None)
    assert tmux_server.get(pane, "#{pane_pipe}") == "0"


def test_a_dead_panes_own_banner_goes_too(tmux_server: TmuxServerFixture) -> None:
    if VERSION < (3, 3):
        pytest.skip("remain-on-exit-format came with tmux 3.3")
    tmux_server.pane()
    tmux_server.tmux("set-option", "-g", "remain-on-exit", "on")
    tmux_server.tmux(
        "set-option", "-g", "remain-on-exit-format", "#[fg=red]gone #{pane_dead_status}!"
    )
    pane = tmux_server.pane(DIES, height=4)
    wait_until(lambda: tmux_server.get(pane, "#{pane_dead}") == "1")
    if VERSION > (3, 3):  # which may not draw it before another child ends
        tmux_server.shows(pane, "gone 3!")
    assert seen(tmux_server, pane).rows == ("8", "9", "LAST", "")


def test_a_program_cannot_imitate_the_answer(tmux_server: TmuxServerFixture) -> None:
    """The pane shows a state line as ours is, but no token that was made after it."""
    entry = printed(tmux_server, "%%9|1|3.3a|1|1|1\\nBUSY\\n", width=40)
    assert entry.rows[:2] == ("%9|1|3.3a|1|1|1", "BUSY")
