"""The parts of the server on their own: arguments, sentences, stdin, who the caller is."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from mcp_client import CONTRACT

from tmux_wait.mcp.arguments import problem
from tmux_wait.mcp.caller import relation
from tmux_wait.mcp.contract import Call, Tool, load
from tmux_wait.mcp.progress import Progress
from tmux_wait.mcp.stdin import StdinLines
from tmux_wait.results import WaitOutcome, WaitResult
from tmux_wait.sentences import notes, sentence

# --- arguments: what we say fits is what a JSON Schema validator says fits

VALUES: Sequence[Any] = (
    None, True, False, 0, 1, -1, 2.0, 0.5, -1.0, "", "x", [], ["x"], ["x", 1], [None], [[]],
    ["x"] * 32, ["x"] * 33, {}, {"a": 1}, 10**30,
)  # fmt: skip


@pytest.mark.parametrize("tool", ["wait_for_text", "list_panes", "send_keys", "capture_pane"])
def test_arguments_fit_exactly_when_a_validator_says_so(tool: str) -> None:
    schema = CONTRACT[tool]["inputSchema"]
    validator = jsonschema.Draft202012Validator(schema)
    for name in [*schema["properties"], "unknown"]:
        for value in VALUES:
            for given in ({name: value}, {"pane": "%0", name: value}):
                assert (problem(tool, given, schema) is None) == validator.is_valid(given), given


# --- wait_for_text: how arguments reach the engine, and what its answer becomes


def _result(outcome: WaitOutcome, **more: Any) -> WaitResult:
    fields: dict[str, Any] = {
        "pane": "%1",
        "matched_index": None,
        "matched_pattern": None,
        "matched_line": None,
        "matched_lines": (),
        "text": "",
        "bytes": 0,
        "elapsed": 2.14,
        "backend": "tap",
        "complete": True,
        "entry_match": None,
        "entry_stop": None,
        "saw_output": False,
        "alternate_screen": False,
    }
    return WaitResult(outcome=outcome, **{**fields, **more})


class Engine:
    """Stands for a ``TmuxServer``: notes how it is called and answers at once."""

    def __init__(self) -> None:
        self.given: dict[str, Any] = {}

    async def wait_for_text(self, pane: str, patterns: Sequence[str], **given: Any) -> WaitResult:
        self.given = {"pane": pane, "patterns": list(patterns), **given}
        return _result(WaitOutcome.DEADLINE)


def _tool(name: str) -> Tool:
    return next(tool for tool in load("libtmux-rs").tools if tool.name == name)


def _served(**arguments: Any) -> dict[str, Any]:
    engine: Any = Engine()
    call = Call(engine, None, None, {"pane": "%1", **arguments}, Progress())
    asyncio.run(_answer(_tool("wait_for_text"), call))
    given: dict[str, Any] = engine.given
    return given


async def _answer(tool: Tool, call: Call) -> None:
    await tool.run(call)


def test_left_out_arguments_have_the_contracts_defaults() -> None:
    expected = {
        "pane": "%1",
        "patterns": [],
        "stop": [],
        "regex": False,
        "match_case": False,
        "seconds": 30,
    }
    assert _served() == expected
    assert _served(patterns=None, stop=None, seconds=None) == expected


@pytest.mark.parametrize(
    ("asked", "served"), [(0, 0), (1, 1), (599, 599), (600, 600), (601, 600), (10**30, 600)]
)
def test_time_is_served_up_to_its_limit(asked: int, served: int) -> None:
    assert _served(seconds=asked)["seconds"] == served


# --- sentences

SENTENCES = {
    "matched": (
        _result(WaitOutcome.MATCHED, matched_pattern="ready", matched_line="server ready on 8080"),
        'matched "ready" after 2.1 s: server ready on 8080',
    ),
    "any output": (
        _result(WaitOutcome.MATCHED, matched_line="x", elapsed=0.004),
        "matched any output after 0.00 s: x",
    ),
    "stopped": (
        _result(WaitOutcome.STOPPED, matched_pattern="a\nb", matched_line="b"),
        'stopped by "a\\nb" after 2.1 s: b',
    ),
    "present": (
        _result(WaitOutcome.PRESENT_AT_ENTRY, matched_pattern="a", matched_line="abc"),
        '"a" was already on the screen: abc',
    ),
    "deadline": (
        _result(WaitOutcome.DEADLINE, text="one\ntwo  \n\n", bytes=12, saw_output=True),
        "deadline after 2.1 s, nothing matched; pane %1 wrote 12 bytes, last: two",
    ),
    "silent": (
        _result(WaitOutcome.PANE_CLOSED),
        "pane %1 closed after 2.1 s, nothing matched; pane %1 wrote nothing",
    ),
    "long line": (
        _result(WaitOutcome.MATCHED, matched_pattern="x" * 500, matched_line="y" * 500),
        f'matched "{"x" * 79}…" after 2.1 s: {"y" * 199}…',
    ),
}


@pytest.mark.parametrize(("result", "said"), SENTENCES.values(), ids=SENTENCES)
def test_result_is_one_sentence(result: WaitResult, said: str) -> None:
    assert sentence(result) == said


@pytest.mark.parametrize("outcome", WaitOutcome)
def test_every_outcome_has_a_sentence_of_one_line(outcome: WaitOutcome) -> None:
    said = sentence(_result(outcome, matched_pattern="p", matched_line="l"))
    assert said
    assert "\n" not in said


def test_doubts_are_notes() -> None:
    assert notes(_result(WaitOutcome.MATCHED)) == []
    doubtful = _result(WaitOutcome.DEADLINE, complete=False, entry_stop="FATAL 1")
    assert notes(doubtful) == [
        "output may have been missed",
        "a stop pattern already stood on the screen: FATAL 1",
    ]
    assert notes(_result(WaitOutcome.PRESENT_AT_ENTRY, complete=False)) == []


# --- caller


def test_caller_is_known_by_pane_and_socket(tmp_path: Path) -> None:
    link = tmp_path / "link"
    link.symlink_to(tmp_path)
    inside = {"TMUX": f"{tmp_path}/a,b,11,0", "TMUX_PANE": "%1"}
    assert relation("%1", None, f"{tmp_path}/a,b", inside) == "self"
    assert relation("%1", None, f"{link}/a,b", inside) == "self"
    assert relation("%2", None, f"{tmp_path}/a,b", inside) == "other"
    assert relation("%1", None, f"{tmp_path}/other", inside) == "other"
    assert relation("%1", None, None, inside) == "self"
    assert relation("%2", None, None, inside) == "other"


def test_caller_is_known_by_the_sockets_name(tmp_path: Path) -> None:
    socket = f"{tmp_path}/tmux-{os.getuid()}/name"
    inside = {"TMUX": f"{socket},11,0", "TMUX_PANE": "%1", "TMUX_TMPDIR": str(tmp_path)}
    assert relation("%1", "name", None, inside) == "self"
    assert relation("%1", "other", None, inside) == "other"
    elsewhere = {"TMUX": f"/tmp/tmux-{os.getuid()}/name,11,0", "TMUX_PANE": "%1"}
    assert relation("%1", "name", None, elsewhere) == "self"
    assert relation("%1", "name", None, {**elsewhere, "TMUX_TMPDIR": "/no/such"}) == "self"


def test_caller_outside_of_tmux_is_unknown() -> None:
    assert relation("%1", "name", None, {}) == "unknown"
    assert relation("%1", None, None, {"TMUX_PANE": "%1"}) == "unknown"
    assert relation("%1", None, None, {"TMUX": "/tmp/x,1,0"}) == "unknown"


# --- stdin


def _lines_of(chunks: Sequence[bytes]) -> list[str]:
    """Write chunks to a pipe, one at a time as they are read, and return the lines read."""

    async def read() -> list[str]:
        reading, writing = os.pipe()
        lines = StdinLines(reading)
        os.close(reading)

        async def write() -> None:
            for chunk in chunks:
                await asyncio.to_thread(os.write, writing, chunk)
            os.close(writing)

        writer = asyncio.create_task(write())
        found = [line async for line in lines]
        await writer
        await asyncio.wait_for(lines.ended(), 10)
        return found

    return asyncio.run(read())


TEXT = "one\n\nzwei é\n{}\nlast".encode()


@pytest.mark.parametrize("cut", range(len(TEXT) + 1))
def test_lines_are_the_same_however_they_arrive(cut: int) -> None:
    expected = ["one", "", "zwei é", "{}", "last"]
    assert _lines_of([TEXT[:cut], TEXT[cut:]]) == expected


def test_lines_arrive_byte_by_byte() -> None:
    assert _lines_of([bytes([byte]) for byte in TEXT]) == ["one", "", "zwei é", "{}", "last"]


def test_long_line_arrives_whole() -> None:
    assert _lines_of([b"x" * 60_000, b"y" * 60_000, b"\n"]) == ["x" * 60_000 + "y" * 60_000]


def test_regular_file_is_read_to_its_end(tmp_path: Path) -> None:
    path = tmp_path / "stdin"
    path.write_bytes(b"one\ntwo\n")

    async def read() -> list[str]:
        with path.open("rb") as file:
            lines = StdinLines(file.fileno())
            return [line async for line in lines]

    assert asyncio.run(read()) == ["one", "two"]


def test_reading_can_be_stopped() -> None:
    async def read() -> list[str]:
        reading, writing = os.pipe()
        lines = StdinLines(reading)
        os.write(writing, b"one\nhalf")
        found = []

        async def collect() -> None:
            async for line in lines:
                found.append(line)

        task = asyncio.create_task(collect())
        while not found:
            await asyncio.sleep(0)
        lines.stop()
        await asyncio.wait_for(task, 10)
        await asyncio.wait_for(lines.ended(), 10)
        os.close(reading)
        os.close(writing)
        return found

    assert asyncio.run(read())[0] == "one"
