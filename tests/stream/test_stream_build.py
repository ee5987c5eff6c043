"""The extension's build: what the header says to cffi, and what is said without a compiler."""

from __future__ import annotations

import os
import re
import runpy
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tmux_wait._core import ffi, lib

ROOT = Path(__file__).parents[2]
HEADER = ROOT / "csrc" / "tmux_wait.h"

pytestmark = pytest.mark.skipif(not HEADER.exists(), reason="needs the C sources")


def test_cffi_knows_each_name_of_the_header_with_its_value() -> None:
    text = HEADER.read_text(encoding="ascii")
    functions = re.findall(r"^[a-z].*?\b(tw_\w+)\(", text, re.MULTILINE)
    assert "tw_scan_feed" in functions
    assert [name for name in functions if not hasattr(lib, name)] == []
    for name, value in re.findall(r"#define (TW_\w+) (\d+)", text):
        assert getattr(lib, name) == int(value)


def test_python_unpacks_the_structs_that_c_fills() -> None:
    from tmux_wait import stream

    for name, layout in (
        ("tw_hit", stream._HIT),
        ("tw_version", stream._VERSION),
        ("tw_match", stream._MATCH),
        ("tw_event", stream._EVENT),
    ):
        assert ffi.sizeof(f"struct {name}") == layout.size


def test_the_build_names_each_source_file() -> None:
    sources = runpy.run_path(str(ROOT / "tmux_wait" / "_build.py"))["SOURCES"]
    assert sorted(sources) == sorted(path.stem for path in HEADER.parent.glob("*.c"))


def test_the_hot_path_never_allocates() -> None:
    calls = re.compile(r"\b(malloc|calloc|realloc|free|printf|abort|exit)\(")
    for path in HEADER.parent.glob("*.c"):
        for function in re.split(r"^}", path.read_text(encoding="ascii"), flags=re.MULTILINE):
            name = re.search(r"^(\w+)\(", function, re.MULTILINE)
            if calls.search(function):
                assert name
                assert re.search(r"_(new|free|init|allocate|finish)$", name[1]), name[1]


def test_without_a_compiler_the_build_says_so_in_one_sentence(tmp_path: Path) -> None:
    pytest.importorskip("setuptools")
    shutil.copytree(ROOT / "csrc", tmp_path / "csrc")
    shutil.copy(ROOT / "setup.py", tmp_path)
    (tmp_path / "tmux_wait").mkdir()
    shutil.copy(ROOT / "tmux_wait" / "_build.py", tmp_path / "tmux_wait")
    built = subprocess.run(
        [sys.executable, "setup.py", "-q", "build_ext"],
        cwd=tmp_path,
        env={**os.environ, "CC": str(tmp_path / "no-such-cc")},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert built.returncode == 1
    assert built.stderr.splitlines()[-1].startswith("tmux-wait needs a C compiler (Debian: ")
    assert "Traceback" not in built.stderr
