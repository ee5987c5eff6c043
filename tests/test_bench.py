"""The benchmarks run, compare like with like, and the README shows what they wrote."""

from __future__ import annotations

import dataclasses
import json
import os
import re
import subprocess
import sys
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest

from bench import report
from bench.cases import CASES, Disagreement, check, find, search_stage
from bench.job import OURS, agree
from bench.measured import Measured
from bench.phrases import MANY, PREFIXED
from bench.texts import TEXTS, control
from tmux_wait.stream import ControlParser, Output

ROOT = Path(__file__).resolve().parent.parent

TEXT_BYTES = 30_000  # of each text: the rare hit comes later, every other kind of line is in
RUN_SECONDS = 120  # for all cases once, on a busy machine
EIGHT = search_stage("8 literals")


def test_run_writes_a_report_of_every_stage(tmp_path: Path) -> None:
    done = subprocess.run(
        [
            sys.executable, "-m", "bench", "--into", tmp_path, f"--text-bytes={TEXT_BYTES}",
            "--seconds=0", "--case-seconds=0",
        ],
        cwd=ROOT, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        text=True, timeout=RUN_SECONDS, check=False, env=os.environ | {"PYTHONPATH": str(ROOT)},
    )  # fmt: skip
    assert done.returncode == 0, done.stdout
    measured = Measured.read(tmp_path / "measured.json")
    stages = {case.stage for case in CASES}
    assert {speed.stage for speed in measured.speeds} == stages
    assert {ratio.name for ratio in measured.ratios} >= {"escape removal, coloured log"}
    assert all(speed.seconds > 0 for speed in measured.speeds)
    text = (tmp_path / "report.md").read_text()
    assert len(re.findall(r"^### ", text, re.MULTILINE)) == len(stages)
    ET.parse(tmp_path / "speed.svg")
    assert "| escape removal, coloured log | re.sub |" in (tmp_path / "README.md").read_text()


def test_every_engine_that_is_absent_is_named(tmp_path: Path) -> None:
    code = (
        "import sys\n"
        "sys.modules['hyperscan'] = None\n"
        "from bench import ratios\n"
        f"sys.exit(ratios.main(['--seconds=0', '--bytes={TEXT_BYTES}', '--only=/ hyperscan']))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, stdin=subprocess.DEVNULL, capture_output=True,
        text=True, timeout=RUN_SECONDS, check=True,
    )  # fmt: skip
    said = done.stdout.splitlines()
    assert said
    assert all("left out, hyperscan is not installed" in line for line in said)


def test_engine_that_finds_less_is_refused() -> None:
    case = find(EIGHT, "all hits", OURS)
    job = case.job(TEXT_BYTES)
    check(case, job, TEXT_BYTES)
    deaf = dataclasses.replace(case.job(TEXT_BYTES), answer=lambda found: [])
    with pytest.raises(Disagreement, match=OURS):
        check(case, deaf, TEXT_BYTES)


@pytest.mark.parametrize(
    ("answer", "agrees"),
    [
        ([(1, 4), (0, 9)], True),
        ([(0, 9)], False),
        ([4, 9], True),
        ([4, 8], False),
        ([], False),
        (frozenset({0, 1}), True),
        (frozenset({0}), False),
        (frozenset(), False),
        (None, True),
    ],
)
def test_answers_are_compared_as_far_as_they_go(answer: object, agrees: bool) -> None:
    assert agree([(0, 9), (1, 4)], answer) is agrees  # type: ignore[arg-type]


def test_texts_left_are_compared_by_their_bytes() -> None:
    assert agree(b"a", b"a")
    assert not agree(b"a", b"b")
    assert not agree(b"a", [])


@pytest.mark.parametrize("name", ["coloured", "plain", "near-miss", "words", "prefixes"])
def test_what_should_not_occur_does_not(name: str) -> None:
    text = TEXTS[name].stripped(500_000).lower()
    phrases = PREFIXED if name == "prefixes" else MANY
    assert [phrase for phrase in phrases if phrase.lower() in text] == []


def test_near_miss_log_has_the_words_that_the_patterns_have() -> None:
    text = TEXTS["near-miss"].stripped(TEXT_BYTES)
    for word in (b"ready", b"output", b"listener", b"segments"):
        assert text.count(word) > 20


@pytest.mark.parametrize("name", TEXTS)
def test_control_form_is_what_the_pane_wrote(name: str) -> None:
    raw = TEXTS[name].raw(TEXT_BYTES)
    assert len(raw) >= TEXT_BYTES * 0.9
    lines = control(raw)
    assert max(len(line) for line in lines.splitlines()) < 2730 * 4 + 20
    assert re.fullmatch(rb"(?:%output %0 [^\x00-\x1f]+\n)+", lines)
    events = ControlParser().feed(lines)
    assert b"".join(event.data for event in events if isinstance(event, Output)) == raw


def test_texts_are_the_same_each_time() -> None:
    code = (
        "import hashlib; from bench.texts import TEXTS\n"
        "print(*(hashlib.sha256(t.make(50_000)).hexdigest() for t in TEXTS.values()))"
    )
    runs = {
        subprocess.run(
            [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True,
            env=os.environ | {"PYTHONHASHSEED": seed},
        ).stdout
        for seed in ("1", "2")
    }  # fmt: skip
    assert len(runs) == 1


def test_readme_shows_the_last_run() -> None:
    measured = Measured.read(ROOT / "bench" / "results" / "measured.json")
    readme = (ROOT / "README.md").read_text()
    assert report.into(readme, measured) == readme
    assert (ROOT / "bench" / "results" / "report.md").read_text() == report.report(measured)


def test_measured_is_read_as_it_was_written(tmp_path: Path) -> None:
    file = ROOT / "bench" / "results" / "measured.json"
    Measured.read(file).write(tmp_path / "again.json")
    assert json.loads((tmp_path / "again.json").read_text()) == json.loads(file.read_text())
