"""The server as a process: withdrawn calls, clients that go, signals, and nothing left behind."""

from __future__ import annotations

import signal
from pathlib import Path

import pytest
from conftest import TmuxServerFixture, wait_until
from mcp_client import HELLO, Bare, bare


def _listening(server: TmuxServerFixture, pane: str) -> None:
    wait_until(lambda: server.get(pane, "#{pane_pipe}") == "1", f"a pipe on {pane}")


def _strangers(server: TmuxServerFixture) -> list[str]:
    """Return the tmux server's children that are not the programs of its panes."""
    panes = server.tmux("list-panes", "-a", "-F", "#{pane_pid}").split()
    children = Path(f"/proc/{server.pid}/task/{server.pid}/children").read_text().split()
    return [child for child in children if child not in panes]


def _nothing_stays(server: TmuxServerFixture, pane: str) -> None:
    wait_until(lambda: server.get(pane, "#{pane_pipe}") == "0", "the pipe to go")
    wait_until(lambda: _strangers(server) == [], "the pipe's process to go")
    wait_until(lambda: not list((server.folder / "scratch").iterdir()), "our files to go")


def _still_serves(client: Bare, request: int) -> None:
    client.send("ping", {}, request)
    assert client.read() == {"jsonrpc": "2.0", "id": request, "result": {}}


def test_withdrawn_call_is_not_answered_and_leaves_nothing(
    tmux_server: TmuxServerFixture,
) -> None:
    pane = tmux_server.pane()
    with bare(tmux_server) as client:
        client.wait(1, pane)
        _listening(tmux_server, pane)
        client.send("notifications/cancelled", {"requestId": 1, "reason": "changed my mind"})
        _nothing_stays(tmux_server, pane)
        _still_serves(client, 2)
        client.wait(3, pane)  # the pane is free for the next
        _listening(tmux_server, pane)
        client.close_stdin()
        assert client.status() == 0


def test_one_withdrawn_call_of_two_leaves_the_other(tmux_server: TmuxServerFixture) -> None:
    pane, other = tmux_server.pane(), tmux_server.pane()
    with bare(tmux_server) as client:
        client.wait(1, pane)
        client.wait(2, other)
        _listening(tmux_server, pane)
        _listening(tmux_server, other)
        client.send("notifications/cancelled", {"requestId": 1})
        wait_until(lambda: tmux_server.get(pane, "#{pane_pipe}") == "0", "the pipe to go")
        tmux_server.type(other, "what was never written")
        answer = client.read()
        assert answer is not None
        assert answer["id"] == 2
        assert answer["result"]["structuredContent"]["outcome"] == "matched"


def test_progress_comes_only_when_asked_for(tmux_server: TmuxServerFixture) -> None:
    pane = tmux_server.pane()
    with bare(tmux_server) as client:
        client.wait(1, pane)
        client.wait(2, pane, meta={"progressToken": "mine"})
        told = [client.read() for _ in range(2)]
        assert [message["method"] for message in told if message] == ["notifications/progress"] * 2
        params = [message["params"] for message in told if message]
        assert [each["progressToken"] for each in params] == ["mine", "mine"]
        assert params[0]["progress"] < params[1]["progress"] < params[0]["total"] == 60


def test_client_that_goes_ends_the_server(tmux_server: TmuxServerFixture) -> None:
    pane = tmux_server.pane()
    with bare(tmux_server) as client:
        client.wait(1, pane)
        _listening(tmux_server, pane)
        client.close_stdin()
        assert client.status() == 0
        assert tmux_server.get(pane, "#{pane_pipe}") == "0"
        _nothing_stays(tmux_server, pane)
        assert client.process.stderr is not None
        assert client.process.stderr.read() == b""


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_signal_answers_every_wait_and_ends_the_server(
    tmux_server: TmuxServerFixture, number: signal.Signals
) -> None:
    pane = tmux_server.pane()
    with bare(tmux_server) as client:
        client.wait(1, pane)
        client.wait(2, pane)
        _listening(tmux_server, pane)
        client.process.send_signal(number)
        answers = [client.read() for _ in range(2)]
        assert client.status() == 128 + number
        assert tmux_server.get(pane, "#{pane_pipe}") == "0"
        _nothing_stays(tmux_server, pane)
        assert sorted(answer["id"] for answer in answers if answer) == [1, 2]
        for answer in answers:
            assert answer is not None
            assert answer["result"]["structuredContent"]["outcome"] == "cancelled"
        assert client.read() is None
        assert client.process.stderr is not None
        assert client.process.stderr.read() == b""


def test_signal_ends_a_server_that_nobody_has_spoken_to(tmux_server: TmuxServerFixture) -> None:
    with bare(tmux_server) as client:
        client.process.send_signal(signal.SIGTERM)
        assert client.status() == 128 + signal.SIGTERM


def test_signal_ends_a_server_whose_client_does_not_read(tmux_server: TmuxServerFixture) -> None:
    pane = tmux_server.pane()
    with bare(tmux_server) as client:
        client.wait(1, pane)
        _listening(tmux_server, pane)
        # Stopped, the reader's pipe fills up with answers nobody takes.
        client.pause()
        for request in range(2, 200):
            client.send("tools/list", {}, request)
        client.process.send_signal(signal.SIGTERM)
        assert client.status() == 128 + signal.SIGTERM
        _nothing_stays(tmux_server, pane)


MALFORMED = {
    "no JSON": b"hello\n",
    "empty line": b"\n",
    "no message": b"[1, 2]\n",
    "not UTF-8": b'{"jsonrpc": "2.0", "method": "\xff"}\n',
    "half a pair": b'{"jsonrpc": "2.0", "id": 7, "method": "\\ud800"}\n',
}


@pytest.mark.parametrize("line", MALFORMED.values(), ids=MALFORMED)
def test_malformed_line_ends_nothing(tmux_server: TmuxServerFixture, line: bytes) -> None:
    with bare(tmux_server) as client:
        client.write(line)
        client.send("ping", {}, 8)
        while (answer := client.read()) is not None and answer.get("id") != 8:
            pass
        assert answer == {"jsonrpc": "2.0", "id": 8, "result": {}}


def test_arguments_that_are_no_object_are_refused(tmux_server: TmuxServerFixture) -> None:
    with bare(tmux_server) as client:
        client.send("tools/call", {"name": "list_panes", "arguments": ["%0"]}, 1)
        answer = client.read()
        assert answer is not None
        assert (answer["id"], answer["error"]["code"]) == (1, -32602)
        _still_serves(client, 2)


def test_client_that_goes_before_it_has_spoken_ends_the_server(
    tmux_server: TmuxServerFixture,
) -> None:
    with bare(tmux_server, handshake=False) as client:
        client.close_stdin()
        assert client.status() == 0
        assert client.read() is None


def test_client_that_closes_its_reading_end_ends_the_server(
    tmux_server: TmuxServerFixture,
) -> None:
    pane = tmux_server.pane()
    with bare(tmux_server, reading=False) as client:
        client.send("initialize", HELLO, 0)
        client.send("notifications/initialized", {})
        client.wait(1, pane)
        assert client.status() == 0
        _nothing_stays(tmux_server, pane)
        assert client.process.stderr is not None
        assert client.process.stderr.read() == b""


def test_missing_tmux_is_told_by_each_call(tmux_server: TmuxServerFixture) -> None:
    tmux_server.binary = "/no/such/tmux"
    with bare(tmux_server) as client:
        client.wait(1, "%0")
        answer = client.read()
        assert answer is not None
        assert answer["result"]["isError"] is True
        assert "/no/such/tmux" in answer["result"]["content"][0]["text"]
        _still_serves(client, 2)
