"""The cffi definition of ``tmux_wait._core``: csrc/ compiled against its one public header."""

from __future__ import annotations

import os
from pathlib import Path

from cffi import FFI

BEGIN = "/* cdef: begin */"
END = "/* cdef: end */"
SOURCES = (
    "bulk",
    "chars",
    "control",
    "drain",
    "escape",
    "lines",
    "literals",
    "panes",
    "prefilter",
    "scan",
    "simd",
    "unescape",
    "versions",
    "windows",
)


def definition(header: str) -> str:
    """Cut out of the header's text what lies between its two markers."""
    return header.split(BEGIN, 1)[1].split(END, 1)[0]


def compile_arguments() -> list[str]:
    """The compiler's flags; TMUX_WAIT_WERROR=1 makes them stricter."""
    flags = ["-std=c11", "-pthread", "-O2", "-Wall", "-Wextra"]
    if os.environ.get("TMUX_WAIT_WERROR") == "1":
        flags.append("-Werror")
    return flags


HEADER = Path(__file__).resolve().parents[1] / "csrc" / "tmux_wait.h"

ffi = FFI()
ffi.cdef(definition(HEADER.read_text(encoding="ascii")))
ffi.set_source(
    "tmux_wait._core",
    '#include "tmux_wait.h"',
    sources=[f"csrc/{name}.c" for name in SOURCES],
    depends=sorted(str(path) for path in Path("csrc").glob("*.[hi]*")),
    include_dirs=["csrc"],
    py_limited_api=True,
    extra_compile_args=compile_arguments(),
    extra_link_args=["-pthread"],
)
