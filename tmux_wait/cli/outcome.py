"""What a shell learns from a result: the exit status, the JSON object, and what to do next."""

from __future__ import annotations

import argparse
import dataclasses
import json
import shlex

from tmux_wait.cli.status import Status
from tmux_wait.results import WaitOutcome, WaitResult

_STATUSES = {
    WaitOutcome.MATCHED: Status.OK,
    WaitOutcome.PRESENT_AT_ENTRY: Status.OK,
    WaitOutcome.STOPPED: Status.STOPPED,
    WaitOutcome.DEADLINE: Status.DEADLINE,
    WaitOutcome.PANE_CLOSED: Status.PANE_CLOSED,
    WaitOutcome.STREAM_LOST: Status.STREAM_LOST,
    WaitOutcome.PENDING: Status.PENDING,
    WaitOutcome.CANCELLED: Status.ERROR,
}


def status(result: WaitResult) -> Status:
    """Return the exit status for a result.

    An accepted pending comes as ``PRESENT_AT_ENTRY``; one that is still ``PENDING`` is typing.
    """
    return _STATUSES[result.outcome]


def as_json(result: WaitResult) -> str:
    """Return every field of a result as one JSON object on one line."""
    fields = {field.name: getattr(result, field.name) for field in dataclasses.fields(result)}
    return json.dumps({**fields, "outcome": result.outcome.value}, ensure_ascii=False)


def advice(result: WaitResult, options: argparse.Namespace) -> list[str]:
    """Say what to do after an end that was not the one hoped for."""
    if result.outcome is WaitOutcome.DEADLINE:
        return [f"{_look(result, options)} shows the pane; --seconds N waits longer"]
    if result.outcome is WaitOutcome.PENDING:
        return [
            "--send types and waits in one step, --accept-pending takes a prompt for an answer; "
            f"{_look(result, options)} shows the pane"
        ]
    if result.outcome is WaitOutcome.STREAM_LOST:
        return ["the pane lives on: the same command can be given again"]
    return []


def _look(result: WaitResult, options: argparse.Namespace) -> str:
    words = [options.tmux]
    if options.socket_name is not None:
        words += ["-L", options.socket_name]
    elif options.socket_path is not None:
        words += ["-S", options.socket_path]
    return f"`{shlex.join([*words, 'capture-pane', '-p', '-t', result.pane])}`"
