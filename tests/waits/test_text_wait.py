"""What a wait for text means, rule by rule, with a fake clock and every cut of the input."""

from __future__ import annotations

import random
from collections.abc import Iterable

import pytest
from hypothesis import given
from hypothesis import strategies as st
from simulation import (
    Closed,
    Cut,
    Pause,
    Simulation,
    Step,
    Written,
    byte_by_byte,
    entry_of,
    whole,
)

from tmux_wait.results import WaitOutcome, WaitResult

Answer = tuple[str, int | None, str | None] | None
"""Outcome, index, line; None: no answer yet."""


def in_two(at: int) -> Cut:
    """Cut each piece of input once, ``at`` bytes in."""
    return lambda data: [data[:at], data[at:]]


def at_random(seed: int) -> Cut:
    """Cut each piece of input at random places."""

    def cut(data: bytes) -> Iterable[bytes]:
        random_ = random.Random(seed)
        at = 0
        while at < len(data):
            size = random_.randint(1, 9)
            yield data[at : at + size]
            at += size

    return cut


CUTS: list[Cut] = [
    whole, byte_by_byte, *(in_two(at) for at in range(1, 24)), *(at_random(n) for n in range(8)),
]  # fmt: skip


def answer(result: WaitResult | None) -> Answer:
    return result and (result.outcome.value, result.matched_index, result.matched_line)


CASES: list[tuple[str, Simulation, list[Step], Answer]] = [
    (
        "a finished line",
        Simulation(["ready"]),
        [b"noise\r\nserver ready\r\nmore\r\n"],
        ("matched", 0, "server ready"),
    ),
    (
        "the case of ASCII letters does not matter",
        Simulation(["READY"]),
        [b"Ready\r\n"],
        ("matched", 0, "Ready"),
    ),
    ("the case matters when asked", Simulation(["READY"], match_case=True), [b"ready\r\n"], None),
    (
        "an unfinished line, after a moment for its end",
        Simulation(["login:"]),
        [b"host login: ", 0.02],
        ("matched", 0, "host login: "),
    ),
    (
        "the rest of the line that comes in time is part of the answer",
        Simulation(["listening on"]),
        [b"listening on ", 0.015, b"port 80", 0.015, b"80\r\nbye\r\n"],
        ("matched", 0, "listening on port 8080"),
    ),
    (
        "a line that never ends is answered after 50 ms",
        Simulation(["on"]),
        [b"on ", 0.015, b"a", 0.015, b"b", 0.015, b"c", 0.01],
        ("matched", 0, "on abc"),
    ),
    (
        "colours between the letters vanish",
        Simulation(["ready"]),
        [b"rea\033[1;32mdy\033(B\033[m\n"],
        ("matched", 0, "ready"),
    ),
    (
        "a shift-in and titles between the letters vanish",
        Simulation(["ready"]),
        [b"r\x0fe\033]0;title\007a\033]2;other\033\\dy\r\n"],
        ("matched", 0, "ready"),
    ),
    (
        "a stop pattern ends the wait",
        Simulation(["ready"], ["FATAL"]),
        [b"FATAL: no port\r\nready\r\n"],
        ("stopped", 0, "FATAL: no port"),
    ),
    (
        "the earlier hit wins, whatever list it is from",
        Simulation(["ready"], ["fatal"]),
        [b"ready and then fatal\r\n"],
        ("matched", 0, "ready and then fatal"),
    ),
    (
        "at the same byte the stop pattern wins",
        Simulation(["no port"], ["port"]),
        [b"fatal: no port\r\n"],
        ("stopped", 0, "fatal: no port"),
    ),
    (
        "at the same byte the lower index wins",
        Simulation(["zz", "no port", "port"]),
        [b"no port\r\n"],
        ("matched", 1, "no port"),
    ),
    (
        "each version of a redrawn line is matched",
        Simulation(["20%"]),
        [b"10%\r20%\r30%\r\n"],
        ("matched", 0, "20%"),
    ),
    (
        "a hit that uses cells of an older version counts when the version completes",
        Simulation(["20 files"]),
        [b"10 files\r20\r\n"],
        ("matched", 0, "20 files"),
    ),
    (
        "such a hit counts after 50 ms of quiet",
        Simulation(["20 files"]),
        [b"10 files\r20", 0.05],
        ("matched", 0, "20 files"),
    ),
    ("but not at once", Simulation(["20 files"]), [b"10 files\r20", 0.04], None),
    (
        "a version that never showed does not match",
        Simulation(["20 files"]),
        [b"10 files\r20 tests\r\n"],
        None,
    ),
    (
        "what is erased was there",
        Simulation(["secret"]),
        [b"secret\r\033[Kother\r\n"],
        ("matched", 0, "secret"),
    ),
    (
        "a backspace edits the line",
        Simulation(["ready"]),
        [b"reax\bdy\r\n"],
        ("matched", 0, "ready"),
    ),
    (
        "cursor-forward over blank cells is spaces",
        Simulation(["a  b"]),
        [b"a\033[2Cb\r\n"],
        ("matched", 0, "a  b"),
    ),
    (
        "text that begins before the cut and ends after it",
        Simulation(["ready"], entry=entry_of("$ x", "rea")),
        [b"dy\r\n"],
        ("matched", 0, "ready"),
    ),
    (
        "what stood on the cursor's row does not count again",
        Simulation(["ready"], fresh=True, entry=entry_of("ready> ")),
        [b"x\r\nnone\r\n"],
        None,
    ),
    (
        "invalid UTF-8 beside a match",
        Simulation(["ready"]),
        [b"\xff\xfeready\xc3\r\n"],
        ("matched", 0, "��ready�"),
    ),
    (
        "a regular expression over invalid UTF-8",
        Simulation(["^<.>$"], regex=True),
        [b"<\xff\xff>\r\n<\xe4\xb8>\r\n"],
        ("matched", 0, "<�>"),
    ),
    (
        "letters beyond ASCII",
        Simulation(["été"]),
        ["l'ÉTÉ vient\r\n".encode()],
        ("matched", 0, "l'ÉTÉ vient"),
    ),
    (
        "a letter beyond ASCII stands before a literal on the unfinished line",
        Simulation(["y", "é"]),
        ["éready".encode(), 1.0],
        ("matched", 1, "éready"),
    ),
    (
        "any output",
        Simulation(),
        [b"\033]0;title\007\033[1m \r\n", 1.0, b"x\r\n"],
        ("matched", None, "x"),
    ),
    (
        "titles, colours and blanks are not output",
        Simulation(),
        [b"\033]0;t\007\033[1m  \r\n"],
        None,
    ),
    (
        "any output with a stop pattern: the line decides",
        Simulation(stop=["fatal"]),
        [b"so fatal\r\n"],
        ("stopped", 0, "so fatal"),
    ),
    (
        "any output with a stop pattern: another line",
        Simulation(stop=["fatal"]),
        [b"all is well\r\n"],
        ("matched", None, "all is well"),
    ),
    (
        "any output with a stop pattern: a quiet line",
        Simulation(stop=["fatal"]),
        [b"prompt> ", 0.05],
        ("matched", None, "prompt> "),
    ),
    ("not before it is quiet", Simulation(stop=["fatal"]), [b"prompt> ", 0.04], None),
    (
        "a settled regular expression on an unfinished line",
        Simulation([r"port \d+"], regex=True),
        [b"port 80", 0.02],
        ("matched", 0, "port 80"),
    ),
    (
        "an end anchor waits for the end of the line",
        Simulation([r"ready$"], regex=True),
        [b"ready", 0.03, b" or not\r\nready\r\n"],
        ("matched", 0, "ready"),
    ),
    (
        "or for 50 ms of quiet",
        Simulation([r"\$ $"], regex=True),
        [b"user$ ", 0.05],
        ("matched", 0, "user$ "),
    ),
    (
        "the earliest of several regular expressions",
        Simulation([r"b+", r"a.c"], regex=True),
        [b"xabc\r\n"],
        ("matched", 0, "xabc"),
    ),
    (
        "a late match of a stop pattern does not overtake",
        Simulation(["ready"], ["ready$"], regex=True),
        [b"ready\r\n"],
        ("matched", 0, "ready"),
    ),
    (
        "an empty line",
        Simulation([r"^$"], regex=True),
        [b"one\r\n\r\n"],
        ("matched", 0, ""),
    ),
    (
        "a regular expression over two lines",
        Simulation([r"one\ntw."], regex=True),
        [b"zero\r\none\r\ntwo\r\n"],
        ("matched", 0, "two"),
    ),
    (
        "a literal over two lines",
        Simulation(["one\ntwo"]),
        [b"zero one\r\ntwo three\r\n"],
        ("matched", 0, "two three"),
    ),
    (
        "a soft wrap does not end a line",
        Simulation(["ready"], entry=entry_of("", width=10)),
        [b"0123456ready\r\n"],
        ("matched", 0, "0123456ready"),
    ),
    (
        "the echo of what was sent is not an answer",
        Simulation(["MARK"], fresh=True, sent="sleep 2; echo MARK", entry=entry_of("$ ")),
        [b"sleep 2; echo MARK\r\n", 2.0],
        None,
    ),
    (
        "its output is",
        Simulation(["MARK"], fresh=True, sent="sleep 2; echo MARK", entry=entry_of("$ ")),
        [b"sleep 2; echo MARK\r\n\033[?2004l\r", 2.0, b"MARK\r\n$ "],
        ("matched", 0, "MARK"),
    ),
    (
        "an output that repeats the whole line is an answer",
        Simulation(["MARK"], fresh=True, sent="echo echo MARK", entry=entry_of("$ ")),
        [b"echo echo MARK\r\n", 0.1, b"echo MARK\r\n$ "],
        ("matched", 0, "echo MARK"),
    ),
    (
        "a regular expression is not taken in by the echo",
        Simulation([r"MA.K"], fresh=True, regex=True, sent="echo MARK", entry=entry_of("$ ")),
        [b"echo MARK\r\n", 0.1, b"MARK\r\n"],
        ("matched", 0, "MARK"),
    ),
    (
        "a regular expression is not taken in by the echo with more behind it",
        Simulation([r"MA.K"], fresh=True, regex=True, sent="echo MARK", entry=entry_of("$ ")),
        [b"echo MARK", b"x", b"y", b"\r\n", 0.1, b"MARK\r\n"],
        ("matched", 0, "MARK"),
    ),
    (
        "nor by the same when it goes quiet",
        Simulation([r"MA.K"], fresh=True, regex=True, sent="echo MARK", entry=entry_of("$ ")),
        [b"echo MARK", b"x", 0.1, b"y\r\n", 0.1, b"MARK\r\n"],
        ("matched", 0, "MARK"),
    ),
    (
        "a regular expression behind the echo on its line is output",
        Simulation([r"MA.K"], fresh=True, regex=True, sent="echo MARK", entry=entry_of("$ ")),
        [b"echo MARK", b" and MARK", b"\r\n"],
        ("matched", 0, "$ echo MARK and MARK"),
    ),
    (
        "the echo is not any output",
        Simulation(fresh=True, sent="sleep 2; echo hi", entry=entry_of("$ ")),
        [b"sleep 2; echo hi\r\n", 2.0, b"hi\r\n"],
        ("matched", None, "hi"),
    ),
    (
        "the echo wrapped over rows",
        Simulation(["MARK"], fresh=True, sent="sleep 2; echo MARK", entry=entry_of("$ ", width=12)),
        [b"sleep 2; echo MARK\r\n", 2.0, b"MARK\r\n"],
        ("matched", 0, "MARK"),
    ),
    (
        "typed ahead of the prompt: echoed twice",
        Simulation(["MARK"], fresh=True, sent="echo MARK", entry=entry_of("")),
        [b"echo MARK\r\n", 0.5, b"bash-5.2# echo MARK\r\n", 0.5, b"MARK\r\n"],
        ("matched", 0, "MARK"),
    ),
    (
        "the echo comes once; the same row again is output",
        Simulation(["MARK"], fresh=True, sent="cat", entry=entry_of("$ ")),
        [b"cat\r\n$ MARK\r\n"],
        ("matched", 0, "$ MARK"),
    ),
    (
        "the pane closes after its last words",
        Simulation(["ready"], ["FATAL"]),
        [b"FATAL: no port", Closed()],
        ("stopped", 0, "FATAL: no port"),
    ),
    ("the pane closes", Simulation(["ready"]), [b"bye", Closed()], ("pane_closed", None, None)),
    (
        "the end of the pane is the end of its line",
        Simulation([r"bye$"], regex=True),
        [b"bye", Closed()],
        ("matched", 0, "bye"),
    ),
    ("the time is up", Simulation(["x"], seconds=5), [4.9, b"y", 0.2], ("deadline", None, None)),
    (
        "the deadline is the end of the line",
        Simulation([r"y$"], regex=True, seconds=5),
        [4.98, b"y", 0.03],
        ("matched", 0, "y"),
    ),
    ("no bound", Simulation(["x"], seconds=None), [1e6], None),
]


@pytest.mark.parametrize(
    ("simulation", "steps", "expected"), [case[1:] for case in CASES], ids=[c[0] for c in CASES]
)
def test_every_cut_gives_the_same_answer(
    simulation: Simulation, steps: list[Step], expected: Answer
) -> None:
    for number, cut in enumerate(CUTS):
        played = Simulation(
            **{
                name: getattr(simulation, name)
                for name in (
                    "patterns", "stop", "regex", "match_case", "seconds", "fresh", "sent", "entry",
                )
            }
        )  # fmt: skip
        assert answer(played.run(*steps, cut=cut)) == expected, f"cut {number}"


def test_case_names_are_unique() -> None:
    names = [case[0] for case in CASES]
    assert len(names) == len(set(names))


def test_byte_by_byte_feeds_every_byte() -> None:
    simulation = Simulation(["zzz"])
    simulation.run(b"12345\r\n", cut=byte_by_byte)
    assert simulation.feeds == 7


# -- the screen at entry -----------------------------------------------------------------------


def test_a_finished_row_at_entry_answers_at_once() -> None:
    result = Simulation(["ready"], entry=entry_of("server ready", "$ ")).run()
    assert answer(result) == ("present_at_entry", 0, "server ready")
    assert result is not None
    assert result.text == "server ready\n$"
    assert result.backend == "none"


def test_rows_below_the_cursor_are_finished() -> None:
    screen = entry_of("menu", "ready", cursor_row=0, cell=0)
    assert answer(Simulation(["ready"], entry=screen).run()) == ("present_at_entry", 0, "ready")


def test_the_cursors_own_row_is_pending() -> None:
    result = Simulation(["ready"], entry=entry_of("$ echo ready")).run()
    assert answer(result) == ("pending", 0, "$ echo ready")


def test_pending_can_be_accepted() -> None:
    simulation = Simulation(["ready"], accept_pending=True, entry=entry_of("ready> "))
    assert answer(simulation.run()) == ("present_at_entry", 0, "ready>")


def test_fresh_only_notes_what_stands_there() -> None:
    simulation = Simulation(["ready"], fresh=True, entry=entry_of("is ready", "$ "))
    result = simulation.run(b"ready again\r\n")
    assert answer(result) == ("matched", 0, "$ ready again")
    assert result is not None
    assert result.entry_match == "is ready"


def test_a_stop_pattern_at_entry_is_noted_and_does_not_end_the_wait() -> None:
    simulation = Simulation(["ready"], ["error"], entry=entry_of("old error", "$ "))
    result = simulation.run(b"ready\r\n")
    assert answer(result) == ("matched", 0, "$ ready")
    assert result is not None
    assert result.entry_stop == "old error"


def test_several_rows_at_entry() -> None:
    result = Simulation(["two\nthree"], entry=entry_of("one two", "three", "$ ")).run()
    assert answer(result) == ("present_at_entry", 0, "three")
    assert result is not None
    assert result.matched_lines == ("one two", "three")


def test_a_dead_pane_is_judged_by_what_it_shows() -> None:
    dead = entry_of("FATAL: no port", dead=True)
    assert answer(Simulation(["no port"], entry=dead).run()) == (
        "present_at_entry", 0, "FATAL: no port",
    )  # fmt: skip
    assert answer(Simulation(["ready"], entry=dead).run()) == ("pane_closed", None, None)


def test_the_echo_of_a_submitted_line_is_not_present_at_entry() -> None:
    first = Simulation(["never"], fresh=True, sent="echo MARK", entry=entry_of("$ "), seconds=1)
    first.run(b"echo MARK\r\n", 2.0)
    again = Simulation(["MARK"], entry=entry_of("$ echo MARK", ""), ledger=first.ledger)
    assert again.run() is None
    shown = entry_of("$ echo MARK", "MARK", "$ ")
    answered = Simulation(["MARK"], entry=shown, ledger=first.ledger)
    assert answer(answered.run()) == ("present_at_entry", 0, "MARK")


def test_two_looks_at_the_same_row_count_one_echo() -> None:
    first = Simulation(["never"], fresh=True, sent="echo MARK", entry=entry_of("$ "), seconds=1)
    first.run(b"echo MARK\r\n", 2.0)
    twice = entry_of("$ echo MARK", "$ echo MARK", "$ ")
    result = Simulation(["MARK"], entry=twice, ledger=first.ledger).run()
    assert answer(result) == ("present_at_entry", 0, "$ echo MARK")


# -- the answer --------------------------------------------------------------------------------


def test_the_answer_holds_the_text_and_its_size() -> None:
    result = Simulation(["ready"]).run(b"one\r\ntwo\r\nready\r\n")
    assert result is not None
    assert result.text == "one\ntwo\nready\n"
    assert result.bytes == 17
    assert result.backend == "tap"
    assert result.complete
    assert result.saw_output


def test_the_text_is_bounded_and_ends_with_the_match() -> None:
    result = Simulation(["ready"]).run(b"0123456789\r\n" * 100_000 + b"ready\r\n")
    assert result is not None
    assert len(result.text.encode()) <= 256 * 1024
    assert result.text.endswith("0123456789\nready\n")


def test_elapsed_counts_from_the_call() -> None:
    result = Simulation(["ready"]).run(2.0, b"ready\r\n")
    assert result is not None
    assert result.elapsed == pytest.approx(2.0)


def test_nothing_written_is_said() -> None:
    result = Simulation(["x"], seconds=1).run(2.0)
    assert result is not None
    assert result.outcome is WaitOutcome.DEADLINE
    assert not result.saw_output
    assert result.text == ""


def test_the_echo_alone_is_not_output_seen() -> None:
    simulation = Simulation(["x"], seconds=1, fresh=True, sent="sleep 9", entry=entry_of("$ "))
    result = simulation.run(b"sleep 9\r\n", 2.0)
    assert result is not None
    assert not result.saw_output


def test_the_alternate_screen_is_noted() -> None:
    result = Simulation(["x"], seconds=1).run(b"\033[?1049h\033[Hvim\033[?1049l", 2.0)
    assert result is not None
    assert result.alternate_screen


def test_an_idle_wait_asks_for_nothing_but_its_deadline() -> None:
    simulation = Simulation(["ready"], seconds=30)
    assert simulation.run(b"working\r\n", 20.0) is None


# -- any input, any cut ------------------------------------------------------------------------

PIECES = st.sampled_from(
    [
        b"ready", b"rea", b"dy", b"FATAL", b"fat", b" ", b"x", b"\r\n", b"\r", b"\b", b"\033[1m",
        b"\033[K", b"\033[2C", b"\033[D", b"\xc3\xa9", b"\xff", b"\t", b"$ ", b"ready FATAL",
        b"\033]0;ready\007", b"\033[H", b"echo ready",
    ]
)  # fmt: skip
STEPS = st.lists(
    st.one_of(
        st.lists(PIECES, min_size=1, max_size=12).map(lambda parts: Written(b"".join(parts))),
        st.sampled_from([0.01, 0.03, 0.06]).map(Pause),
    ),
    max_size=8,
)


@given(
    steps=STEPS,
    patterns=st.sampled_from([["ready"], ["rea", "ready"], [], ["y", "é"]]),
    stop=st.sampled_from([[], ["fatal"], ["al", "fatal"]]),
    regex=st.booleans(),
    sent=st.sampled_from([None, "echo ready"]),
    seed=st.integers(0, 1000),
)
def test_random_cuts_change_nothing(
    steps: list[Step],
    patterns: list[str],
    stop: list[str],
    regex: bool,
    sent: str | None,
    seed: int,
) -> None:
    def play(cut: Cut) -> tuple[Answer, str | None]:
        simulation = Simulation(
            patterns, stop, regex=regex, sent=sent, fresh=True, entry=entry_of("$ ", width=20)
        )
        result = simulation.run(*steps, 0.2, Closed(), cut=cut)
        assert result is not None
        return answer(result), result.matched_pattern

    expected = play(whole)
    assert play(byte_by_byte) == expected
    assert play(at_random(seed)) == expected
