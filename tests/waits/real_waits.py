"""Real waits on the test's own server, and what happens while they listen."""

from __future__ import annotations

import asyncio
import queue
import threading
from collections.abc import Callable
from typing import Any

import pytest
from conftest import PATIENCE, TmuxServerFixture

from tmux_wait import TmuxServer, WaitResult, wait_for_text
from tmux_wait.observe.entry import Entry
from tmux_wait.waits.text import TextWait

Wait = Callable[..., WaitResult]
Ears = Callable[[], str]
"""Waits until the wait has opened its next ear, and returns the ear's name."""


@pytest.fixture(params=["blocking", "asyncio"])
def wait(request: pytest.FixtureRequest, tmux_server: TmuxServerFixture) -> Wait:
    """The same wait through either driver, on the test's server."""
    where = {"socket_name": tmux_server.name, "tmux": tmux_server.binary}

    def blocking(*args: Any, **options: Any) -> WaitResult:
        return wait_for_text(*args, **{"seconds": PATIENCE, **where, **options})

    def over_asyncio(
        *args: Any, backend: str = "auto", tmux: str = tmux_server.binary, **options: Any
    ) -> WaitResult:
        async def main() -> WaitResult:
            async with TmuxServer(**{**where, "tmux": tmux}, backend=backend) as server:
                return await server.wait_for_text(*args, **{"seconds": PATIENCE, **options})

        return asyncio.run(main())

    return blocking if request.param == "blocking" else over_asyncio


def during(wait: Callable[[], WaitResult], act: Callable[[Ears], object]) -> WaitResult:
    """Run ``act`` in a thread once the wait listens."""
    opened: queue.Queue[str] = queue.Queue()
    raised: list[BaseException] = []
    listen = TextWait.listen

    def listening(wait: TextWait, backend: str, entry: Entry) -> None:
        listen(wait, backend, entry)
        opened.put(backend)

    def later() -> None:
        try:
            opened.get(timeout=PATIENCE)
            act(lambda: opened.get(timeout=PATIENCE))
        except BaseException as error:  # it is the test's own
            raised.append(error)

    thread = threading.Thread(target=later)
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(TextWait, "listen", listening)
        thread.start()
        result = wait()
        thread.join()
    if raised:
        raise raised[0]
    return result
