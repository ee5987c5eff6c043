"""Runs all benchmarks of the stream core and writes the report: `python -m bench`.

Writes bench/results/ (measured.json, report.md, speed.svg) and README's part of it; with --into,
all four go into another folder. It takes about four minutes. --text-bytes and --case-seconds make
it short, to see whether all works; what it finds then says nothing about speed.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from bench import chart, ratios, report
from bench.cases import usual_size
from bench.machine import describe
from bench.measured import Measured, speeds_of
from bench.texts import TEXTS

HERE = Path(__file__).parent
RESULTS = HERE / "results"
README = HERE.parent / "README.md"


def run_suite(*arguments: str) -> list[dict[str, Any]]:
    """Run the suite of pytest-benchmark; return its benchmarks."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "suite.json"
        subprocess.run(
            [
                sys.executable, "-m", "pytest", "bench/suite.py", "-rs", "-p", "no:cacheprovider",
                "--benchmark-timer=time.thread_time", "--benchmark-quiet",
                f"--benchmark-json={file}", *arguments,
            ],
            cwd=HERE.parent,
            stdin=subprocess.DEVNULL,
            check=True,
        )  # fmt: skip
        return list(json.loads(file.read_text())["benchmarks"])


def sizes(text_bytes: int | None) -> dict[str, list[int]]:
    """Return how many bytes each text has, raw, as control lines and stripped."""
    found = {}
    for name, text in TEXTS.items():
        size = text_bytes or usual_size(name)
        found[name] = [len(form(size)) for form in (text.raw, text.control, text.stripped)]
    return found


def main(arguments: Sequence[str] | None = None) -> int:
    """Run, write, say where."""
    parser = argparse.ArgumentParser(prog="python -m bench", description=__doc__)
    parser.add_argument("--into", type=Path, metavar="FOLDER", help="write there, README too")
    parser.add_argument("--seconds", type=float, default=ratios.BUDGET, help="for the ratios")
    parser.add_argument("--text-bytes", type=int, metavar="N", help="of raw text")
    parser.add_argument("--render", action="store_true", help="measure nothing, write it anew")
    parser.add_argument("--case-seconds", type=float, default=0.25, help="for each of the rest")
    options = parser.parse_args(arguments)
    if options.render:
        write(Measured.read(RESULTS / "measured.json"), options.into)
        return 0
    size: int | None = options.text_bytes
    found = ratios.measure_all(ratios.GOALS, options.seconds, size)
    suite = run_suite(
        f"--case-seconds={options.case_seconds}", *([f"--text-bytes={size}"] if size else [])
    )
    write(Measured(describe(), found, speeds_of(suite), sizes(size)), options.into)
    return 0


def write(measured: Measured, folder: Path | None = None) -> None:
    """Write the report into ``folder``; None: where the repository has it."""
    into = folder or RESULTS
    into.mkdir(parents=True, exist_ok=True)
    measured.write(into / "measured.json")
    measured = Measured.read(into / "measured.json")  # with the figures that were kept
    (into / "report.md").write_text(report.report(measured))
    (into / "speed.svg").write_text(chart.chart(measured))
    readme = report.into(README.read_text(), measured)
    (into / "README.md" if folder else README).write_text(readme)
    print(f"Written: {into / 'report.md'}")


if __name__ == "__main__":
    sys.exit(main())
