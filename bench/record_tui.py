"""Records the full-screen text of the benchmarks, bench/tui.raw.xz: `python -m bench.record_tui`.

vim pages through C source with syntax colours, searches and inserts; less pages through a coloured
log. What they write to a pane of a private tmux is taken by `pipe-pane`. Needs tmux, vim and less;
only whoever wants another recording runs it.
"""

from __future__ import annotations

import contextlib
import lzma
import subprocess
import sys
import tempfile
import time
import uuid
from collections.abc import Iterator
from pathlib import Path

from bench.texts import RECORDING, TEXTS

SOURCE = Path(__file__).parent.parent / "csrc" / "scan.c"
LOG_BYTES = 200_000
SETTLED_SECONDS = 0.15  # a screen that stays as it is for so long has been drawn
PATIENCE = 10.0  # seconds that drawing a screen may take

VIM = ["vim", "-u", "NONE", "-c", "set nocp ruler hlsearch number t_ti= t_te=", "-c", "syntax on"]
VIM_KEYS = (
    *("C-f",) * 8, "/scan", "Enter", *("n",) * 12, *("C-b",) * 4, "gg", *("C-d",) * 12, "Oint",
    *(" value = 0;",) * 3, "Enter", "return (value);", "Escape", "u", "ggVG", "Escape",
    ":set list", "Enter", *("C-u",) * 8, *("j",) * 60, ":q!", "Enter",
)  # fmt: skip
LESS_KEYS = (*("Space",) * 15, "/WARN", "Enter", *("n",) * 10, *("b",) * 10, *("j",) * 40, "q")


class Pane:
    """A pane of a private tmux server that is being recorded."""

    def __init__(self, folder: Path) -> None:
        self._name = f"tw-record-{uuid.uuid4().hex[:8]}"
        self.raw = folder / "raw"
        self.run("-f", "/dev/null", "new-session", "-d", "-x", "120", "-y", "40", "-c", str(folder),
                 "TERM=screen-256color PS1='$ ' exec dash")  # fmt: skip
        self.run("pipe-pane", "-O", f"exec cat > {self.raw}")

    def run(self, *args: str) -> str:
        """Run a tmux command; return its output."""
        with tempfile.TemporaryFile() as out:
            subprocess.run(
                ["tmux", "-u", "-L", self._name, *args],
                stdin=subprocess.DEVNULL, stdout=out, stderr=subprocess.DEVNULL, check=True,
            )  # fmt: skip
            out.seek(0)
            return out.read().decode()

    def press(self, key: str) -> None:
        """Press a key, by its name, or type a text, and let the screen settle."""
        self.run("send-keys", key)
        deadline = time.monotonic() + PATIENCE
        seen, since = self._look(), time.monotonic()
        while time.monotonic() - since < SETTLED_SECONDS and time.monotonic() < deadline:
            time.sleep(SETTLED_SECONDS / 5)
            now = self._look()
            if now != seen:
                seen, since = now, time.monotonic()

    def _look(self) -> tuple[str, int]:
        return self.run("capture-pane", "-p"), self.raw.stat().st_size


@contextlib.contextmanager
def pane(folder: Path) -> Iterator[Pane]:
    """Start a pane, and end its server."""
    made = Pane(folder)
    try:
        yield made
    finally:
        made.run("kill-server")


def record() -> bytes:
    """Return what a pane wrote while the programs were used."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "scan.c").write_bytes(SOURCE.read_bytes())
        (folder / "log").write_bytes(TEXTS["coloured"].raw(LOG_BYTES))
        with pane(folder) as screen:
            for keys in ((*_line(*VIM, "scan.c"), *VIM_KEYS), ("less -R log", "Enter", *LESS_KEYS)):
                for key in keys:
                    screen.press(key)
            return screen.raw.read_bytes()


def _line(*words: str) -> tuple[str, str]:
    return " ".join(f"'{word}'" if " " in word else word for word in words), "Enter"


if __name__ == "__main__":
    data = record()
    RECORDING.write_bytes(lzma.compress(data, preset=9 | lzma.PRESET_EXTREME))
    print(f"{len(data)} bytes, {RECORDING.stat().st_size} compressed", file=sys.stderr)
