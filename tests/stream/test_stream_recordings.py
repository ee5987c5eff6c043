"""Real sessions, recorded by scripts/record-sessions: replayed, they give the rows tmux showed."""

from __future__ import annotations

import json
import lzma
from pathlib import Path
from random import Random

import pytest
from samples import random_cut
from terminal_twin import TerminalTwin

from tmux_wait.cells import width as width_of
from tmux_wait.stream import LineScanner, TextFilter

RECORDINGS = {
    file.name.partition(".")[0]: file
    for file in sorted((Path(__file__).parent / "recordings").glob("*.json.xz"))
}

# Rows that tmux shows and the lines lack: there the shell went down to a row that its line did not
# reach (yet, or no more), where a line feed ends a line, and came back up.
DETOURS = {
    "bash": ["$ echo now the same again but it is cha!"],
    "zsh": ["% echo now the same again but it is cha!"],
    "fish": ["> echo now the same again but it is cha!"],
}


def load(name: str) -> tuple[bytes, int, list[str]]:
    """Return what the program wrote, the pane's width and the rows that tmux showed."""
    recording = json.loads(lzma.decompress(RECORDINGS[name].read_bytes()))
    rows = [row.expandtabs() for row in recording["rows"]]
    return recording["stream"].encode("latin-1"), recording["width"], rows


def rows_of(line: str, width: int) -> list[str]:
    """Cut a line where the terminal wraps it; blanks at the ends of rows go."""
    rows, row, used = [], "", 0
    for char in line:
        if used + width_of(char) > width:
            rows.append(row.rstrip(" "))
            row, used = "", 0
        row, used = row + char, used + width_of(char)
    return [*rows, row.rstrip(" ")]


def lines_of(stream: bytes, width: int) -> list[str]:
    text_filter = TextFilter(width)
    return (text_filter.feed(stream) + text_filter.flush()).decode().split("\n")


def test_all_kinds_of_programs_are_recorded() -> None:
    assert set(RECORDINGS) >= {"bash", "zsh", "fish", "pip", "apt", "curl", "tqdm", "git-log", "ls"}


@pytest.mark.parametrize("name", sorted(set(RECORDINGS) - set(DETOURS)))
def test_the_lines_are_the_rows_that_tmux_showed(name: str) -> None:
    stream, width, shown = load(name)
    assert len(shown) > 3
    rows = [row for line in lines_of(stream, width) for row in rows_of(line, width)]
    while not rows[-1]:
        rows.pop()
    assert rows == shown


@pytest.mark.parametrize("name", DETOURS)
def test_the_lines_of_a_shell_hold_the_rows_that_tmux_showed(name: str) -> None:
    stream, width, shown = load(name)
    rows = iter([row for line in lines_of(stream, width) for row in rows_of(line, width)])
    lacking = []
    for real in filter(None, shown):
        ahead = list(rows)
        if real in ahead:
            rows = iter(ahead[ahead.index(real) + 1 :])
        else:
            lacking.append(real)
            rows = iter(ahead)
    assert lacking == DETOURS[name]


@pytest.mark.parametrize("name", RECORDINGS)
def test_cuts_change_nothing_and_the_twin_agrees(name: str) -> None:
    stream, width, _ = load(name)
    wanted = [b"session over", b"alpha", b"o", "世界".encode()]
    twin = TerminalTwin(tuple(wanted), width=width)
    twin.feed(stream)
    twin.finish()
    assert any(hit.pattern == 0 for hit in twin.hits)
    random = Random(name)
    for _ in range(20):
        scan = LineScanner(wanted, width=width)
        hits, versions = [], []
        for piece in random_cut(random, stream):
            hits += scan.feed(piece)
            versions += scan.versions()
        hits += scan.finish()
        versions += scan.versions()
        assert hits == twin.hits
        assert versions == twin.versions
