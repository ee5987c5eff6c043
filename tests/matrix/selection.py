"""A pytest plugin: ``--tmux-tests only`` runs what drives a tmux, ``none`` what does not.

A test drives a tmux if it uses the fixture ``tmux_server``, itself or through another fixture,
or carries the mark ``tmux``. The others are not counted as deselected: the closing line tells
of this run and of nothing else.
"""

from __future__ import annotations

import pytest


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--tmux-tests", choices=("all", "only", "none"), default="all")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    wanted = config.getoption("--tmux-tests")
    if wanted != "all":
        items[:] = [item for item in items if _drives_tmux(item) == (wanted == "only")]


def _drives_tmux(item: pytest.Item) -> bool:
    fixtures: list[str] = getattr(item, "fixturenames", [])
    return "tmux_server" in fixtures or item.get_closest_marker("tmux") is not None
