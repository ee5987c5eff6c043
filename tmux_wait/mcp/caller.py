"""Which pane, if any, does this process itself run in?

Source: tmux(1): a process in a pane has ``TMUX`` (socket path, server pid, session, separated by
commas) and ``TMUX_PANE``; a socket named by ``-L`` is ``tmux-UID/NAME`` below ``TMUX_TMPDIR`` or
``/tmp``.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Literal

Relation = Literal["self", "other", "unknown"]

DEFAULT_SOCKET_NAME = "default"
DEFAULT_SOCKET_FOLDER = "/tmp"


def relation(
    pane: str,
    socket_name: str | None,
    socket_path: str | None,
    environment: Mapping[str, str] = os.environ,
) -> Relation:
    """Say what ``pane`` of the server at that socket is to us.

    Returns:
        "self" if we run in it, "other" if we run in another pane of some server, "unknown" if
        nothing says that we run in a pane at all.
    """
    ours = environment.get("TMUX", "").rsplit(",", 2)[0]
    own_pane = environment.get("TMUX_PANE", "")
    if not ours or not own_pane:
        return "unknown"
    if socket_name is None and socket_path is None:  # tmux itself follows $TMUX then
        return "self" if pane == own_pane else "other"
    theirs = socket_path or _named(socket_name or DEFAULT_SOCKET_NAME, environment)
    same = os.path.realpath(theirs) == os.path.realpath(ours)
    return "self" if same and pane == own_pane else "other"


def _named(name: str, environment: Mapping[str, str]) -> str:
    folder = environment.get("TMUX_TMPDIR", "")
    if not folder or not os.path.exists(folder):  # noqa: PTH110 - as tmux does, no object needed
        folder = DEFAULT_SOCKET_FOLDER
    return f"{folder}/tmux-{os.getuid()}/{name}"
