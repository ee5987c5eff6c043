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


def after_the_tap(*rows: Row, heard: bytes = b"", **options: object) -> tuple[Simulation, TextWait]:
    """A wait for `ready` that lost its tap and found these rows to be new."""
    options = {"fresh": True, "entry": entry_of("is ready", "$ "), **options}
    simulation = Simulation(["ready"], ["fatal"], **options)  # type: ignore[arg-type]
    wait = simulation.start()
    wait.data(heard, simulation.now)
    wait.gap(rows, simulation.now)
    return simulation, wait


def test_what_the_screen_shows_beyond_the_cut_is_judged() -> None:
    _, wait = after_the_tap(new(1, "$ run"), new(2, "server ready"), new(3, "$", cursor=True))
    assert answer(wait.result) == ("matched", "server ready")
    assert wait.result is not None
    assert wait.result.text == "$ run\nserver ready\n$"


def test_a_gap_leaves_a_wait_uncertain() -> None:
    _, wait = after_the_tap(new(1, "$ run"), new(2, "$", cursor=True))
    assert wait.result is None
    assert not wait.complete


def test_a_stop_pattern_in_the_gap() -> None:
    _, wait = after_the_tap(new(1, "$ run"), new(2, "fatal"), new(3, "ready"))
    assert wait.result is not None
    assert wait.result.outcome is WaitOutcome.STOPPED


def test_the_echo_of_what_was_typed_is_no_answer_in_the_gap_either() -> None:
    for heard in (b"", b"echo ready\r\n"):
        _, wait = after_the_tap(new(1, "$ echo ready"), heard=heard, sent="echo ready")
        assert wait.result is None, heard
        _, wait = after_the_tap(new(1, "$ echo ready"), new(2, "ready"), sent="echo ready")
        assert answer(wait.result) == ("matched", "ready")


def test_a_line_that_began_before_the_gap_ends_behind_it() -> None:
    simulation, wait = after_the_tap(new(1, "serv", cursor=True), heard=b"run\r\nserv")
    wait.listen("control", entry_of("$ run", "serv"))
    wait.data(b"er ready\r\n", simulation.now)
    assert answer(wait.result) == ("matched", "server ready")
    assert wait.result is not None
    assert (wait.result.backend, wait.result.bytes) == ("control", len("run..server ready.."))


def test_an_end_anchor_waits_for_quiet_behind_the_gap() -> None:
    for more, expected in ((b"", ("matched", "ready")), (b" or not", None)):
        simulation = Simulation([r"ready$"], regex=True, entry=entry_of(""))
        wait = simulation.start()
        wait.gap([new(0, "ready", cursor=True)], simulation.now)
        assert wait.result is None
        wait.listen("control", entry_of("ready"))
        if more:
            wait.data(more, simulation.now)
        simulation.pass_time(wait, 1.0)
        assert answer(wait.result) == expected


def test_a_hit_whose_line_the_ear_did_not_hear_the_end_of_is_answered_with_what_there_is() -> None:
    _, wait = after_the_tap(new(1, "server ready on 80"), heard=b"server ready")
    assert answer(wait.result) == ("matched", "$ server ready")


def test_the_last_screen_shows_words_that_were_not_heard() -> None:
    simulation = Simulation(["ready"], ["fatal"], entry=entry_of("$ "), backend="control")
    wait = simulation.start()
    wait.data(b"run\r\nbye\r\n", simulation.now)
    wait.rows([new(0, "$ run"), new(1, "bye"), new(2, "fatal: gone")], simulation.now, quiet=False)
    assert answer(wait.result) == ("stopped", "fatal: gone")
