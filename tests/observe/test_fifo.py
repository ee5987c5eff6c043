"""The FIFO's shell: it never waits for a reader that is gone."""

from __future__ import annotations

import os
import subprocess

from conftest import PATIENCE

from tmux_wait.observe.fifo import Fifo


def test_a_shell_whose_reader_was_killed_before_it_opened_ends() -> None:
    fifo = Fifo("0")
    try:
        os.close(fifo.fd)  # as the kernel does it; the names stay
        fifo.fd = -1
        shell = subprocess.run(
            ["sh", "-c", fifo.shell_command()], stdin=subprocess.DEVNULL, timeout=PATIENCE,
            stderr=subprocess.PIPE, check=False,
        )  # fmt: skip
    finally:
        fifo.close()
    assert shell.returncode != 0


def test_a_shell_with_a_reader_proves_itself_and_passes_on_its_input() -> None:
    fifo = Fifo("0")
    try:
        subprocess.run(
            ["sh", "-c", fifo.shell_command()], input=b"words\n", timeout=PATIENCE, check=True
        )
        heard = fifo.read(4096)
    finally:
        fifo.close()
    assert heard is not None
    proof, words = heard.split(b"\n", 1)
    assert proof.isdigit()
    assert words == b"words\n"
