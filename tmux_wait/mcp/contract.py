"""What a contract is, and which ones there are.

A contract is one module of this package with a ``CONTRACT``. It translates names and outcomes and
holds no waiting logic. Nothing here imports the SDK: a wrong option is answered at once.
"""

from __future__ import annotations

import importlib
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tmux_wait.mcp.progress import Progress
    from tmux_wait.server import TmuxServer

JsonObject = Mapping[str, Any]

# name: module with its CONTRACT
CONTRACTS = {"libtmux-rs": "tmux_wait.mcp.libtmux_rs"}
DEFAULT_CONTRACT = "libtmux-rs"


@dataclass(frozen=True, slots=True)
class Answer:
    """What a tool call returns: the object that the output schema describes, and one line."""

    structured: dict[str, Any]
    text: str


@dataclass(frozen=True, slots=True)
class Call:
    """One call of a tool; ``arguments`` have been checked against the input schema."""

    server: TmuxServer
    socket_name: str | None
    socket_path: str | None
    arguments: JsonObject
    progress: Progress


@dataclass(frozen=True, slots=True)
class Tool:
    """One tool as it is listed, and what runs when it is called.

    ``run`` raises ``TmuxWaitError`` for what the caller can mend. Cancelling it ends the wait.
    """

    name: str
    title: str
    description: str
    input_schema: JsonObject
    output_schema: JsonObject
    annotations: Mapping[str, bool]
    run: Callable[[Call], Awaitable[Answer]]


@dataclass(frozen=True, slots=True)
class Contract:
    """The tools of one server and what it tells an agent about them."""

    name: str
    instructions: str
    tools: tuple[Tool, ...]


def load(name: str) -> Contract:
    """Import a contract by its name; ``KeyError`` if there is none."""
    contract = importlib.import_module(CONTRACTS[name]).CONTRACT
    assert isinstance(contract, Contract)
    return contract
