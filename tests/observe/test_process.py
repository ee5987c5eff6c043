"""A process's end is heard by its descriptor, if it is the child that it should be."""

from __future__ import annotations

import os
import select
import subprocess
import sys

import pytest

from tmux_wait.process import parent_of, started_at, watch_process

linux = pytest.mark.skipif(sys.platform != "linux", reason="asks /proc")


def _readable(fd: int, milliseconds: int) -> bool:
    poll = select.poll()
    poll.register(fd, select.POLLIN)
    return bool(poll.poll(milliseconds))


def test_the_descriptor_is_readable_once_the_process_has_ended() -> None:
    with subprocess.Popen(["cat"], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL) as child:
        fd = watch_process(child.pid, os.getpid())
        assert fd is not None
        assert not _readable(fd, 0)
        assert child.stdin is not None
        child.stdin.close()
        assert _readable(fd, 10_000)
        assert _readable(fd, 0), "it stays readable"
        os.close(fd)


@linux
def test_a_process_that_is_not_the_parents_child_is_not_watched() -> None:
    assert watch_process(os.getpid(), os.getpid()) is None


@linux
def test_a_process_that_has_been_reaped_is_not_watched() -> None:
    child = subprocess.Popen(["true"])
    child.wait()
    assert watch_process(child.pid, os.getpid()) is None


def test_no_process_at_all_is_not_watched() -> None:
    assert watch_process(0, os.getpid()) is None


@linux
def test_a_zombie_has_no_start_time() -> None:
    child = subprocess.Popen(["true"])
    os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT)
    assert parent_of(child.pid) == os.getpid()
    assert started_at(child.pid) is None
    child.wait()
    assert started_at(os.getpid()) is not None
