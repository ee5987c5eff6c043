"""One protocol, two drivers: whatever one does, the other does."""

from __future__ import annotations

import asyncio
import gc
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest
from ears import Main, on_both_drivers

from tmux_wait.drive import Driver, blocking
from tmux_wait.drive.aio import AsyncioDriver


@pytest.fixture
def pipe() -> Iterator[tuple[int, int]]:
    """A pipe: where to read, where to write."""
    read, write = os.pipe()
    yield read, write
    for fd in (read, write):
        with suppress(OSError):
            os.close(fd)


@on_both_drivers
def test_wait_returns_what_is_readable_already(run: Main, pipe: tuple[int, int]) -> None:
    os.write(pipe[1], b"x")

    async def main(driver: Driver) -> None:
        assert list(await driver.wait([pipe[0]], None)) == [pipe[0]]
        assert list(await driver.wait([pipe[0]], driver.now() - 1)) == [pipe[0]]

    run(main)


@on_both_drivers
def test_wait_wakes_when_something_is_written(run: Main, pipe: tuple[int, int]) -> None:
    writer = threading.Timer(0.02, os.write, (pipe[1], b"x"))

    async def main(driver: Driver) -> None:
        writer.start()
        assert list(await driver.wait([pipe[0]], driver.now() + 10)) == [pipe[0]]

    run(main)
    writer.join()


@on_both_drivers
def test_wait_returns_a_pipe_at_its_end(run: Main, pipe: tuple[int, int]) -> None:
    os.close(pipe[1])

    async def main(driver: Driver) -> None:
        assert list(await driver.wait([pipe[0]], None)) == [pipe[0]]

    run(main)


@on_both_drivers
def test_wait_returns_nothing_once_its_time_has_come(run: Main, pipe: tuple[int, int]) -> None:
    async def main(driver: Driver) -> None:
        for fds in ([], [pipe[0]]):
            until = driver.now() + 0.02
            assert list(await driver.wait(fds, until)) == []
            assert driver.now() >= until - 0.001
            assert list(await driver.wait(fds, driver.now() - 1)) == []

    run(main)


@on_both_drivers
def test_teardowns_run_before_the_call_is_over(run: Main) -> None:
    done: list[int] = []

    async def main(driver: Driver) -> str:
        for number in range(3):

            async def job(number: int = number) -> None:
                await driver.wait((), driver.now() + 0.01 * (3 - number))
                done.append(number)

            driver.later(job)
        assert done == []
        return "answer"

    assert run(main) == "answer"
    assert sorted(done) == [0, 1, 2]


@on_both_drivers
@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt, SystemExit])
def test_teardowns_run_when_the_call_raises(run: Main, error: type[BaseException]) -> None:
    done: list[int] = []

    async def main(driver: Driver) -> None:
        async def job() -> None:
            await driver.wait((), driver.now())
            done.append(1)

        driver.later(job)
        raise error

    with pytest.raises(error):
        run(main)
    assert done == [1]


@on_both_drivers
def test_a_teardown_that_raises_harms_nobody(run: Main) -> None:
    done: list[int] = []

    async def main(driver: Driver) -> str:
        async def bad() -> None:
            raise ValueError

        async def good() -> None:
            done.append(1)

        driver.later(bad)
        driver.later(good)
        return "answer"

    assert run(main) == "answer"
    assert done == [1]


def test_an_interrupt_in_a_blocking_teardown_is_raised_after_it() -> None:
    tries: list[int] = []

    async def main(driver: Driver) -> None:
        async def job() -> None:
            tries.append(1)
            if len(tries) == 1:
                raise KeyboardInterrupt

        driver.later(job)

    with pytest.raises(KeyboardInterrupt):
        blocking.run(main)
    assert len(tries) == 2


def test_a_signal_ends_a_blocking_wait_after_its_teardown() -> None:
    done: list[int] = []

    async def main(driver: Driver) -> None:
        async def job() -> None:
            done.append(1)

        driver.later(job)
        os.kill(os.getpid(), signal.SIGINT)
        await driver.wait((), driver.now() + 10)

    with pytest.raises(KeyboardInterrupt):
        blocking.run(main)
    assert done == [1]


def test_an_asyncio_wait_that_is_cancelled_watches_nothing(pipe: tuple[int, int]) -> None:
    async def main() -> None:
        driver = AsyncioDriver()
        task = asyncio.ensure_future(_wait(driver, pipe[0]))
        await asyncio.sleep(0.01)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert not asyncio.get_running_loop().remove_reader(pipe[0])

    asyncio.run(main())


async def _wait(driver: Driver, fd: int) -> None:
    await driver.wait([fd], None)


def test_a_teardown_happens_though_its_task_is_cancelled() -> None:
    """``asyncio.run`` cancels every task at its end, also one that has not begun."""
    done: list[int] = []

    async def main() -> None:
        driver = AsyncioDriver()
        for number, pause in enumerate((0.0, 60.0)):

            async def job(number: int = number, pause: float = pause) -> None:
                if number not in done:
                    done.append(number)
                    await driver.wait((), driver.now() + pause / 1000)

            driver.later(job)

    asyncio.run(main())
    assert sorted(done) == [0, 1]


def test_a_teardown_asked_for_after_the_loop_was_closed_happens_at_once() -> None:
    done: list[int] = []
    loop = asyncio.new_event_loop()
    driver = AsyncioDriver(loop)
    loop.close()

    async def job() -> None:
        await driver.wait((), driver.now() + 0.001)
        done.append(1)

    driver.later(job)
    assert done == [1]


def test_a_wait_whose_loop_was_closed_tears_down_when_it_is_collected(
    pipe: tuple[int, int],
) -> None:
    done: list[int] = []
    loop = asyncio.new_event_loop()
    driver = AsyncioDriver(loop)

    async def job() -> None:
        done.append(1)

    async def whole() -> None:
        try:
            await driver.wait([pipe[0]], None)
        finally:
            driver.later(job)

    task = loop.create_task(whole())
    task._log_destroy_pending = False  # type: ignore[attr-defined]
    loop.call_later(0.01, loop.stop)
    loop.run_forever()
    loop.close()
    del task
    gc.collect()
    assert done == [1]


def test_the_blocking_driver_refuses_to_suspend() -> None:
    async def main(driver: Driver) -> None:
        await asyncio.sleep(0)

    with pytest.raises(RuntimeError, match="suspend"):
        blocking.run(main)


def test_the_blocking_driver_does_not_import_asyncio(tmp_path: Path) -> None:
    code = (
        "import sys, tmux_wait.drive.blocking, tmux_wait.observe.choose;"
        "print('asyncio' in sys.modules)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    )  # fmt: skip
    assert done.stdout == "False\n"


def test_a_wait_longer_than_poll_can_take_is_no_error(pipe: tuple[int, int]) -> None:
    writer = threading.Timer(0.02, os.write, (pipe[1], b"x"))
    writer.start()
    assert list(blocking.poll_once([pipe[0]], time.monotonic() + 1e12)) == [pipe[0]]
    writer.join()
