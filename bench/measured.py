"""What one run of the benchmarks found, as bench/results/measured.json has it."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from bench.ratios import Result


@dataclass(frozen=True)
class Speed:
    """How fast an engine was at a stage of a text: medians and quartiles, in seconds of a run."""

    stage: str
    text: str
    engine: str
    bytes: int
    feeds: int
    seconds: float
    low: float
    high: float

    @property
    def rate(self) -> float:
        """Bytes of its own input per second."""
        return self.bytes / self.seconds


@dataclass(frozen=True)
class Measured:
    """A run: the machine, the ratios, the speeds, the sizes of the texts in their three forms."""

    machine: dict[str, str]
    ratios: list[Result]
    speeds: list[Speed]
    texts: dict[str, list[int]]

    def speed(self, stage: str, text: str, engine: str) -> Speed | None:
        """Return one speed, or None if it was not measured."""
        named = (s for s in self.speeds if (s.stage, s.text, s.engine) == (stage, text, engine))
        return next(named, None)

    def write(self, file: Path) -> None:
        """Write all of it as JSON, one entry a line."""
        parts = {
            "machine": json.dumps(self.machine),
            "texts": json.dumps(self.texts),
            "ratios": _rows(asdict(ratio) for ratio in self.ratios),
            "speeds": _rows(asdict(speed) for speed in self.speeds),
        }
        body = ",\n".join(f'"{name}": {value}' for name, value in parts.items())
        file.write_text(f"{{\n{body}\n}}\n")

    @classmethod
    def read(cls, file: Path) -> Measured:
        """Read what ``write`` wrote."""
        held = json.loads(file.read_text())
        return cls(
            held["machine"],
            [Result(**ratio) for ratio in held["ratios"]],
            [Speed(**speed) for speed in held["speeds"]],
            held["texts"],
        )


def _rows(rows: Iterable[dict[str, Any]]) -> str:
    return "[\n" + ",\n".join(json.dumps(_short(row), ensure_ascii=False) for row in rows) + "\n]"


def _short(row: dict[str, Any]) -> dict[str, Any]:
    """Keep six figures of a measurement: more are noise."""
    return {k: float(f"{v:.6g}") if isinstance(v, float) else v for k, v in row.items()}


def speeds_of(benchmarks: list[dict[str, Any]]) -> list[Speed]:
    """Take the speeds out of what pytest-benchmark wrote."""
    return [
        Speed(
            **{
                key: one["extra_info"][key] for key in ("stage", "text", "engine", "bytes", "feeds")
            },
            seconds=one["stats"]["median"],
            low=one["stats"]["q1"],
            high=one["stats"]["q3"],
        )
        for one in benchmarks
    ]
