"""Which ear is taken on a real tmux, and why another one is refused."""

from __future__ import annotations

from pathlib import Path

import pytest
from conftest import HAS_CONTROL, SECOND_EAR, VERSION, TmuxServerFixture
from ears import Main, listen, notice, on_both_drivers

from tmux_wait.drive import Driver
from tmux_wait.errors import TmuxWaitError
from tmux_wait.observe import Observer, control_client
from tmux_wait.observe.control import Control
from tmux_wait.tmux import Tmux

pytestmark = pytest.mark.usefixtures("spotless")

VERSIONS = Path(__file__).parents[2] / ".tmux-versions"
OLD, NEW = (VERSIONS / name / "bin/tmux" for name in ("3.3a", "3.8"))


@on_both_drivers
def test_the_tap_comes_first_then_control_then_looking(
    run: Main, tmux_server: TmuxServerFixture
) -> None:
    pane = tmux_server.pane()

    async def main(driver: Driver) -> None:
        assert (await listen(driver, tmux_server, pane, backend="tap")).name == "tap"
        tmux_server.tmux("pipe-pane", "-t", pane, "exec cat >/dev/null")
        avoiding = {
            (): SECOND_EAR,
            ("tap",): SECOND_EAR,
            ("control",): "poll",
            ("tap", "control"): "poll",
        }
        for avoid, name in avoiding.items():
            ear = await listen(driver, tmux_server, pane, avoid=avoid)
            assert (ear.name, ear.complete) == (name, name != "poll")
            tmux_server.type(pane, f"seen by {name}, not by {avoid}")
            _, end = await notice(driver, ear, f"seen by {name}, not by {avoid}")
            assert end is None

    run(main)


@on_both_drivers
def test_ears_that_cannot_be_had_are_refused(run: Main, tmux_server: TmuxServerFixture) -> None:
    pane = tmux_server.pane()
    tmux_server.tmux("pipe-pane", "-t", pane, "cat >/dev/null")
    refused = {"ear": "unknown backend 'ear'", "tap": "already has a pipe"}
    if not HAS_CONTROL:
        refused["control"] = r"needs a tmux server of version 3\.7 or newer, and this one is 3\."

    async def main(driver: Driver) -> None:
        for backend, words in refused.items():
            with pytest.raises(TmuxWaitError, match=words):
                await listen(driver, tmux_server, pane, backend=backend)

    run(main)
    assert tmux_server.tmux("list-clients") == ""
    assert tmux_server.get(pane, "#{pane_pipe}") == "1"


@on_both_drivers
def test_a_client_that_would_outlive_us_is_only_taken_if_asked_for(
    run: Main, tmux_server: TmuxServerFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    if VERSION < (3, 8):
        pytest.skip("before tmux 3.8 it is only taken if asked for anyway")
    pane = tmux_server.pane()
    tmux_server.tmux("pipe-pane", "-t", pane, "cat >/dev/null")
    for module in (control_client, "tmux_wait.observe.choose"):
        name = module if isinstance(module, str) else module.__name__
        monkeypatch.setattr(f"{name}.dies_with_us", lambda: ())

    async def main(driver: Driver) -> None:
        assert (await listen(driver, tmux_server, pane)).name == "poll"
        assert (await listen(driver, tmux_server, pane, backend="control")).name == "control"

    run(main)


@pytest.fixture
def old_server(tmux_server: TmuxServerFixture) -> TmuxServerFixture:
    """A server of tmux 3.3a, whatever tmux is under test."""
    if not (OLD.exists() and NEW.exists()):
        pytest.skip("make tmux-versions has not laid out 3.3a and 3.8")
    tmux_server.binary = str(OLD)
    return tmux_server


@on_both_drivers
def test_the_servers_version_counts_and_not_the_clients(
    run: Main, old_server: TmuxServerFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    pane = old_server.pane()
    old_server.tmux("pipe-pane", "-t", pane, "cat >/dev/null")
    started: list[object] = []
    monkeypatch.setattr(Control, "__init__", lambda control, *_: started.append(control))
    newer = Tmux(str(NEW), socket_name=old_server.name)

    async def main(driver: Driver) -> Observer:
        with pytest.raises(TmuxWaitError, match=r"this one is 3\.3a"):
            await listen(driver, old_server, pane, tmux=newer, backend="control")
        return await listen(driver, old_server, pane, tmux=newer)

    assert run(main).name == "poll"
    assert started == []
