"""What is handed out: the sdist is complete, the wheel serves every Python, imports are cheap."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
BUILD_SECONDS = 300  # the longest that a build may take, its downloads included
NOT_SOURCE = (
    ".*", "build", "dist", "wheelhouse", "__pycache__", "*.egg-info", "*.so", "*.o",
)  # fmt: skip


def run(
    *command: str | Path, cwd: Path | None = None, **variables: str
) -> subprocess.CompletedProcess[str]:
    """Run a program to its end with ``variables`` in its environment, and keep what it printed."""
    return subprocess.run(
        command,
        cwd=cwd,
        env=os.environ | variables,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
        timeout=BUILD_SECONDS,
    )


@pytest.fixture(scope="module")
def dist(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder with an sdist of this checkout and the wheel that was built from it alone."""
    folder = tmp_path_factory.mktemp("packaging")
    source = folder / "source"
    shutil.copytree(ROOT, source, ignore=shutil.ignore_patterns(*NOT_SOURCE))
    built = run(sys.executable, "-m", "build", "--outdir", folder / "dist", source, cwd=folder)
    assert built.returncode == 0, built.stdout
    return folder / "dist"


@pytest.fixture(scope="module")
def sdist(dist: Path) -> Path:
    (found,) = dist.glob("*.tar.gz")
    return found


@pytest.fixture(scope="module")
def wheel(dist: Path) -> Path:
    (found,) = dist.glob("*.whl")
    return found


def test_sdist_holds_all_that_a_build_needs(sdist: Path) -> None:
    with tarfile.open(sdist) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    c_files = {f"csrc/{path.name}" for path in (ROOT / "csrc").glob("*.[ch]")}
    assert c_files
    needed = {"pyproject.toml", "setup.py", "README.md", "LICENSE", "tmux_wait/_build.py"}
    assert (c_files | needed) - names == set()


def test_one_wheel_serves_every_python_from_3_10_on(wheel: Path) -> None:
    _, _, python, abi, _ = wheel.stem.split("-")
    assert (python, abi) == ("cp310", "abi3")


def test_wheel_holds_every_module_and_is_typed(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        names = set(archive.namelist())
    modules = {str(path.relative_to(ROOT)) for path in (ROOT / "tmux_wait").rglob("*.py")}
    assert (modules | {"tmux_wait/py.typed"}) - names == set()
    assert [name for name in names if name.endswith(".abi3.so")]
    assert not [name for name in names if name.startswith(("tests", "csrc", "docs", "scripts"))]


def test_wheel_works_outside_the_checkout(wheel: Path, tmp_path: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(tmp_path / "installed")
    code = (
        "import tmux_wait.stream as stream\n"
        "print(stream.__file__)\n"
        "print(stream.TextFilter().feed(b'a\\x1b[1mb\\r\\n'))"
    )
    done = run(sys.executable, "-c", code, cwd=tmp_path, PYTHONPATH="installed")
    assert done.stdout.splitlines() == [
        str(tmp_path / "installed" / "tmux_wait" / "stream.py"),
        "b'ab\\n'",
    ]


@pytest.mark.parametrize("statement", ["import tmux_wait", "import tmux_wait.stream"])
def test_import_pulls_in_nothing_slow(statement: str) -> None:
    slow = {"asyncio", "libtmux", "mcp", "re2"}
    done = run(sys.executable, "-c", f"{statement}, sys; print(sorted({slow} & {{*sys.modules}}))")
    assert done.stdout.strip() == "[]"


def test_build_without_a_compiler_says_so_in_one_sentence(sdist: Path, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    failed = run(
        sys.executable, "-m", "pip", "wheel", "--no-deps", sdist,
        cwd=tmp_path, PATH=str(tmp_path / "empty"),
    )  # fmt: skip
    assert failed.returncode != 0
    said = [line for line in failed.stdout.splitlines() if "C compiler" in line]
    assert len(said) == 1, failed.stdout
    assert "Traceback" not in failed.stdout
