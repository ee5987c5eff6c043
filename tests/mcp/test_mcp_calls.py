"""What calls answer: outcomes, errors, progress, many at once."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import anyio
import pytest
from conftest import SECOND_EAR, TmuxServerFixture
from mcp_client import Agent, eventually, text, with_agent

ON_ENTER = "stty -echo; read _; echo noise; {}; exec sleep 100"


def _listening(server: TmuxServerFixture, *panes: str) -> Any:
    def all_listen() -> bool:
        return all(server.get(pane, "#{pane_pipe}") == "1" for pane in panes)

    return eventually(all_listen, "pipes on the panes")


async def _after_enter(
    server: TmuxServerFixture, agent: Agent, pane: str, **given: Any
) -> tuple[dict[str, Any], str]:
    """Wait for text, press Enter once the wait listens, return what came of it."""
    results = []

    async def wait() -> None:
        results.append(await agent.call("wait_for_text", pane=pane, **given))

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(wait)
        await _listening(server, pane)
        server.tmux("send-keys", "-t", pane, "Enter")
    assert not results[0].is_error, text(results[0])
    return results[0].structured_content, text(results[0])


def test_match_is_answered_with_its_place_and_line(tmux_server: TmuxServerFixture) -> None:
    pane = tmux_server.pane("sh", "-c", ON_ENTER.format("echo 'é: server ready on 8080'"))

    async def scenario(agent: Agent) -> None:
        found, said = await _after_enter(
            tmux_server, agent, pane, patterns=["failed", "READY"], stop=["fatal"]
        )
        assert found["text"].startswith("noise\n")
        assert found["bytes"] >= len("noise\n")
        del found["text"], found["bytes"]
        assert found == {
            "pane": pane,
            "outcome": "matched",
            "matched_index": 1,
            "matched_pattern": "READY",
        }
        assert said.startswith('matched "READY" after ')
        assert said.endswith(" s: é: server ready on 8080")

    with_agent(tmux_server, scenario)


def test_stop_is_answered_with_its_place_in_the_stop_list(tmux_server: TmuxServerFixture) -> None:
    pane = tmux_server.pane("sh", "-c", ON_ENTER.format("echo FATAL 7; echo ready"))

    async def scenario(agent: Agent) -> None:
        found, said = await _after_enter(
            tmux_server, agent, pane, patterns=["ready"], stop=["x", "fatal [0-9]"], regex=True
        )
        assert (found["outcome"], found["matched_index"]) == ("stopped", 1)
        assert found["matched_pattern"] == "fatal [0-9]"
        assert said.endswith(": FATAL 7")

    with_agent(tmux_server, scenario)


@pytest.mark.parametrize("patterns", [None, []])
def test_no_patterns_mean_any_output(
    tmux_server: TmuxServerFixture, patterns: list[str] | None
) -> None:
    pane = tmux_server.pane("sh", "-c", ON_ENTER.format("true"))

    async def scenario(agent: Agent) -> None:
        found, said = await _after_enter(
            tmux_server, agent, pane, patterns=patterns, stop=None, seconds=None
        )
        assert (found["outcome"], found["matched_index"]) == ("matched", None)
        assert found["matched_pattern"] is None
        assert said.startswith("matched any output after ")

    with_agent(tmux_server, scenario)


def test_closed_pane_is_an_answer(tmux_server: TmuxServerFixture) -> None:
    tmux_server.pane()
    pane = tmux_server.tmux("new-window", "-P", "-F", "#{pane_id}", "sh", "-c", "read _; echo bye")

    async def scenario(agent: Agent) -> None:
        found, said = await _after_enter(tmux_server, agent, pane, patterns=["ready"])
        assert found["outcome"] == "pane_closed"
        assert "bye" in found["text"]
        assert f"pane {pane} closed after " in said

    with_agent(tmux_server, scenario)


def test_one_look_sees_what_is_there(tmux_server: TmuxServerFixture) -> None:
    pane = tmux_server.pane("sh", "-c", "echo server ready; printf 'password: '; exec sleep 100")
    tmux_server.shows(pane, "password:")

    async def scenario(agent: Agent) -> None:
        look = {"pane": pane, "seconds": 0}
        found = await agent.found("wait_for_text", patterns=["ready"], **look)
        assert found["outcome"] == "present_at_entry"
        assert found["matched_pattern"] == "ready"
        assert "server ready" in found["text"]
        found = await agent.found("wait_for_text", patterns=["word"], **look)
        assert found["outcome"] == "pending"
        found = await agent.found("wait_for_text", patterns=["absent"], **look)
        assert found["outcome"] == "deadline"
        assert found["matched_index"] is None

    with_agent(tmux_server, scenario)


def test_doubts_are_told(tmux_server: TmuxServerFixture, tmp_path: Path) -> None:
    pane = tmux_server.pane("sh", "-c", "echo FATAL before; exec sleep 100")
    tmux_server.shows(pane, "FATAL before")
    tmux_server.tmux("pipe-pane", "-t", pane, f"cat >> {tmp_path / 'log'}")

    async def scenario(agent: Agent) -> None:
        result = await agent.call(
            "wait_for_text", pane=pane, patterns=["ready"], stop=["fatal"], seconds=1
        )
        assert result.structured_content["outcome"] == "deadline"
        assert ("output may have been missed" in text(result)) == (SECOND_EAR == "poll")
        assert "a stop pattern already stood on the screen: FATAL before" in text(result)

    with_agent(tmux_server, scenario)
    assert tmux_server.get(pane, "#{pane_pipe}") == "1"


REFUSALS: dict[str, tuple[dict[str, Any], str]] = {
    "no pane": ({}, "needs the argument 'pane'"),
    "unknown pane": ({"pane": "%999"}, "%999"),
    "no pane id": ({"pane": "main:1.0"}, "an id such as %3"),
    "a flag for a pane": ({"pane": "-a"}, "an id such as %3"),
    "a format for a pane": ({"pane": "#{pane_id}"}, "an id such as %3"),
    "pane of another type": ({"pane": 3}, "pane must be a string, not an integer"),
    "unknown argument": ({"pane": "%0", "timeout": 3}, "no argument 'timeout'; it takes "),
    "time in words": ({"pane": "%0", "seconds": "3"}, "seconds must be an integer or null"),
    "part of a second": ({"pane": "%0", "seconds": 0.5}, "not 0.5"),
    "negative time": ({"pane": "%0", "seconds": -1}, "seconds must be at least 0, not -1"),
    "flag as a number": ({"pane": "%0", "regex": 1}, "regex must be a boolean, not an integer"),
    "one pattern bare": ({"pane": "%0", "patterns": "x"}, "patterns must be an array or null"),
    "pattern of another type": ({"pane": "%0", "stop": ["x", None]}, "stop[1] must be a string"),
    "too many patterns": ({"pane": "%0", "patterns": ["x"] * 33}, "at most 32 entries, not 33"),
    "empty pattern": ({"pane": "%0", "patterns": ["x", ""]}, "empty"),
    "too long a pattern": ({"pane": "%0", "stop": ["x" * 4097]}, "4096"),
    "bad pattern": ({"pane": "%0", "patterns": ["a("], "regex": True}, "missing )"),
    "bad stop": ({"pane": "%0", "stop": ["x", "b["], "regex": True}, "missing ]"),
}


@pytest.fixture(scope="module")
def refusals(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """Everything refused by one server, which works as before afterwards."""
    server = TmuxServerFixture(tmp_path_factory.mktemp("refusals"))
    said = {}

    async def scenario(agent: Agent) -> None:
        for name, (given, _) in REFUSALS.items():
            said[name] = await agent.refusal("wait_for_text", **given)
        said["unknown tool"] = await agent.refusal("wait_for_nothing")
        said["argument of list_panes"] = await agent.refusal("list_panes", pane="%0")
        assert (await agent.found("wait_for_text", pane="%0", seconds=0))["outcome"] == "deadline"

    try:
        assert server.pane() == "%0"
        with_agent(server, scenario)
        assert server.get("%0", "#{pane_pipe}") == "0"
    finally:
        server.close()
    return said


@pytest.mark.parametrize(("name", "words"), [(n, w) for n, (_, w) in REFUSALS.items()])
def test_bad_arguments_are_told_in_one_sentence(
    refusals: dict[str, str], name: str, words: str
) -> None:
    assert words in refusals[name].replace(",", "") or words in refusals[name]


def test_bad_pattern_is_named_by_list_and_index(refusals: dict[str, str]) -> None:
    assert "patterns" in refusals["bad pattern"]
    assert "0" in refusals["bad pattern"]
    assert "stop" in refusals["bad stop"]
    assert "1" in refusals["bad stop"]


def test_unknown_tool_is_refused(refusals: dict[str, str]) -> None:
    assert "there is no tool 'wait_for_nothing'" in refusals["unknown tool"]


def test_list_panes_takes_no_arguments(refusals: dict[str, str]) -> None:
    assert "list_panes has no argument 'pane'" in refusals["argument of list_panes"]


def test_no_tmux_server_is_told_and_one_that_comes_is_found(
    tmux_server: TmuxServerFixture,
) -> None:
    async def scenario(agent: Agent) -> None:
        assert "no tmux server" in await agent.refusal("wait_for_text", pane="%0")
        assert "no tmux server" in await agent.refusal("list_panes")
        pane = tmux_server.pane()
        found = await agent.found("list_panes")
        assert [view["id"] for view in found["panes"]] == [pane]

    with_agent(tmux_server, scenario)


def test_panes_are_listed(tmux_server: TmuxServerFixture, tmp_path: Path) -> None:
    folder = tmp_path / "prêt à porter"
    folder.mkdir()
    first = tmux_server.pane()
    second = tmux_server.tmux(
        "split-window", "-P", "-F", "#{pane_id}", "-c", str(folder), "exec cat"
    )

    async def scenario(agent: Agent) -> None:
        await eventually(
            lambda: tmux_server.get(second, "#{pane_current_command}") == "cat", "cat to run"
        )
        result = await agent.call("list_panes")
        views = {view["id"]: view for view in result.structured_content["panes"]}
        assert list(views) == [first, second]
        assert views[second] == {
            "id": second,
            "window_id": tmux_server.get(second, "#{window_id}"),
            "active": True,
            "caller": "unknown",
            "command": "cat",
            "path": str(folder),
        }
        assert views[first]["active"] is False
        assert text(result).startswith(f"2 panes: {first} cat ")
        assert text(result).endswith(f"{second} cat {folder} (active)")

    with_agent(tmux_server, scenario)


def test_the_pane_that_the_server_runs_in_is_marked(tmux_server: TmuxServerFixture) -> None:
    first = tmux_server.pane()
    second = tmux_server.tmux("split-window", "-P", "-F", "#{pane_id}", "exec cat")
    inside = tmux_server.get(first, "#{socket_path},#{pid},0")

    async def scenario(agent: Agent) -> None:
        found = await agent.found("list_panes")
        callers = {view["id"]: view["caller"] for view in found["panes"]}
        assert callers == {first: "self", second: "other"}

    with_agent(tmux_server, scenario, TMUX=inside, TMUX_PANE=first)


def test_progress_comes_while_the_wait_goes_on(tmux_server: TmuxServerFixture) -> None:
    pane = tmux_server.pane()
    heard: list[tuple[float, float | None, str | None]] = []

    async def scenario(agent: Agent) -> None:
        enough = anyio.Event()

        async def progress(done: float, total: float | None, message: str | None) -> None:
            heard.append((done, total, message))
            if len(heard) == 2:
                enough.set()

        async def wait() -> None:
            given = {"pane": pane, "patterns": ["ready"], "seconds": 30}
            await agent.session.call_tool("wait_for_text", given, progress_callback=progress)

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(wait)
            await enough.wait()
            tmux_server.type(pane, "now ready")

    with_agent(tmux_server, scenario)
    assert [total for _, total, _ in heard] == [30.0] * len(heard)
    assert [done for done, _, _ in heard] == sorted(done for done, _, _ in heard)
    assert f'waiting in {pane} for "ready": nothing yet after 1 s of 30 s' in str(heard)


def test_many_calls_are_served_at_once(tmux_server: TmuxServerFixture) -> None:
    panes = [tmux_server.pane("sh", "-c", ON_ENTER.format("echo ready")) for _ in range(4)]
    outcomes: list[str] = []

    async def scenario(agent: Agent) -> None:
        async def wait(pane: str) -> None:
            found = await agent.found("wait_for_text", pane=pane, patterns=["ready"])
            outcomes.append(found["outcome"])

        async with anyio.create_task_group() as tasks:
            for pane in panes * 5:
                tasks.start_soon(wait, pane)
            await _listening(tmux_server, *panes)
            # None of the waits can have ended: nothing was written.
            assert len((await agent.found("list_panes"))["panes"]) == len(panes)
            assert outcomes == []
            for pane in panes:
                tmux_server.tmux("send-keys", "-t", pane, "Enter")

    with_agent(tmux_server, scenario)
    assert outcomes == ["matched"] * 20


def test_started_without_a_locale_all_letters_come_out_right(
    tmux_server: TmuxServerFixture,
) -> None:
    # The SDK's client starts servers without LANG and LC_ALL, as most clients do.
    pane = tmux_server.pane("sh", "-c", ON_ENTER.format("echo 'café prêt'"))

    async def scenario(agent: Agent) -> None:
        found, said = await _after_enter(tmux_server, agent, pane, patterns=["É PRÊT"])
        assert found["outcome"] == "matched"
        assert said.endswith(": café prêt")

    with_agent(tmux_server, scenario)
