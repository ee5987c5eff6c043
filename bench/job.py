"""What is timed: a call on bytes that were made ready before, and how its answer is checked."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

Hits: TypeAlias = "Sequence[tuple[int, int]]"  # pattern's index, end in bytes
Answer: TypeAlias = "Hits | Sequence[int] | frozenset[int] | bytes | None"
"""What an engine says of a text, as fully as it can say it.

All hits; or only their ends; or only which patterns occur; or the text that is left; or nothing,
where what it makes cannot be compared.
"""

OURS = "tmux-wait"
"""The engine whose answer the others must give too."""


class Missing(Exception):
    """An engine that is not installed here; the message is the line that says so."""


@dataclass(frozen=True)
class Job:
    """``run`` reads ``size`` bytes; ``feeds`` is how many calls it makes for that.

    ``answer`` reads the result of the first run: later ones may count on from there.
    """

    size: int
    run: Callable[[], Any]
    answer: Callable[[Any], Answer]
    feeds: int = 1


def agree(reference: Answer, answer: Answer) -> bool:
    """Say whether an answer is the reference, as far as it goes."""
    if answer is None or reference is None:
        return True
    if isinstance(answer, bytes) or isinstance(reference, bytes):
        return answer == reference
    hits = [hit for hit in reference if isinstance(hit, tuple)]
    if isinstance(answer, frozenset):
        return answer == {index for index, _ in hits}
    if answer and not isinstance(answer[0], tuple):
        return sorted(answer) == sorted(end for _, end in hits)
    return sorted(answer) == sorted(hits)
