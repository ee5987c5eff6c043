"""A wait by the poll ear, and one that changes ears: rows in, with a fake clock."""

from __future__ import annotations

from simulation import Closed, Seen, Simulation, entry_of

from tmux_wait.observe import Row
from tmux_wait.results import WaitOutcome, WaitResult
from tmux_wait.waits.text import TextWait


def new(index: int, text: str, *, cursor: bool = False) -> Row:
    """A row that was not there before."""
    return Row(index, text, new=True, cursor=cursor)


def changed(index: int, text: str, *, cursor: bool = True) -> Row:
    """A row whose text is another one now."""
    return Row(index, text, new=False, cursor=cursor)


def answer(result: WaitResult | None) -> tuple[str, str | None] | None:
    return result and (result.outcome.value, result.matched_line)


def polled(*patterns: str, **options: object) -> Simulation:
    return Simulation(patterns, backend="poll", **options)  # type: ignore[arg-type]


def test_a_new_row_matches_and_is_not_certain() -> None:
    result = polled("ready").run(Seen([new(1, "noise"), new(2, "server ready")]))
    assert answer(result) == ("matched", "server ready")
    assert result is not None
    assert not result.complete
    assert result.backend == "poll"
    assert result.text == "noise\nserver ready"


def test_rows_are_judged_from_top_to_bottom() -> None:
    rows = [new(1, "fatal"), new(2, "ready")]
    result = polled("ready", stop=["fatal"]).run(Seen(rows))
    assert answer(result) == ("stopped", "fatal")


def test_what_was_added_to_a_row_counts() -> None:
    simulation = polled("ready", entry=entry_of("$ rea"))
    assert answer(simulation.run(Seen([changed(0, "$ ready")]))) == ("matched", "$ ready")


def test_what_stood_on_the_cursors_row_does_not_count_again() -> None:
    simulation = polled("ready", fresh=True, entry=entry_of("ready> "))
    assert simulation.run(Seen([changed(0, "ready> x")]), Seen([], quiet=True)) is None


def test_an_end_anchor_waits_for_two_equal_looks() -> None:
    simulation = polled(r"ready$", regex=True)
    row = changed(0, "ready")
    assert simulation.run(Seen([row])) is None
    again = polled(r"ready$", regex=True)
    assert answer(again.run(Seen([row]), Seen([], quiet=True))) == ("matched", "ready")


def test_two_equal_looks_do_not_bring_back_what_stood_there_at_entry() -> None:
    simulation = polled(r"ready>$", regex=True, fresh=True, entry=entry_of("ready>"))
    steps = [Seen([new(1, "x"), changed(2, "", cursor=True)]), Seen([], quiet=True)]
    assert simulation.run(*steps) is None


def test_the_echo_is_not_an_answer_and_the_output_is() -> None:
    simulation = polled("MARK", fresh=True, sent="echo MARK", entry=entry_of("$ "))
    result = simulation.run(
        Seen([changed(0, "$ echo MARK")]),
        Seen([new(1, "", cursor=True)]),
        Seen([new(1, "MARK", cursor=False), new(2, "$", cursor=True)]),
    )
    assert answer(result) == ("matched", "MARK")


def test_the_echo_alone_is_not_an_answer() -> None:
    simulation = polled("MARK", fresh=True, sent=": MARK", entry=entry_of("$ "), seconds=5)
    rows = [changed(0, "$ : MARK", cursor=False), new(1, "$", cursor=True)]
    result = simulation.run(Seen(rows), Seen([], quiet=True), 6.0)
    assert answer(result) == ("deadline", None)


def test_any_output() -> None:
    assert answer(polled().run(Seen([new(1, "hello")]))) == ("matched", "hello")
    assert polled(entry=entry_of("$ ")).run(Seen([], quiet=True)) is None


def test_a_pattern_over_two_rows() -> None:
    result = polled("one\ntwo").run(Seen([new(1, "one")]), Seen([new(2, "two")]))
    assert answer(result) == ("matched", "two")


def test_the_pane_closes() -> None:
    result = polled("ready").run(Seen([new(1, "bye")]), Closed())
    assert answer(result) == ("pane_closed", None)


# -- from one ear to the next ------------------------------------------------------------------


def after_the_tap(screen: tuple[str, ...], heard: bytes = b"") -> TextWait:
    """A wait for `ready` that lost its tap and found this screen."""
    simulation = Simulation(["ready"], ["fatal"], entry=entry_of("is ready", "$ "), fresh=True)
    wait = simulation.start()
    wait.data(heard, simulation.now)
    wait.gap(entry_of(*screen), simulation.now)
    return wait


def test_what_the_screen_shows_beyond_the_cut_is_judged() -> None:
    wait = after_the_tap(("is ready", "$ run", "server ready", "$ "))
    assert answer(wait.result) == ("matched", "server ready")


def test_what_stood_there_at_the_cut_is_not_judged_again() -> None:
    wait = after_the_tap(("is ready", "$ run", "$ "))
    assert wait.result is None
    assert not wait.complete


def test_a_stop_pattern_in_the_gap() -> None:
    wait = after_the_tap(("is ready", "$ run", "fatal", "ready", "$ "))
    assert wait.result is not None
    assert wait.result.outcome is WaitOutcome.STOPPED
