"""The C extension of tmux-wait; everything else is said in pyproject.toml."""

from __future__ import annotations

import tempfile
from pathlib import Path

from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext
from setuptools.errors import CCompilerError, PlatformError

NO_COMPILER = (
    "tmux-wait needs a C compiler "
    "(Debian: apt-get install gcc libc6-dev; Alpine: apk add gcc musl-dev; "
    "macOS: xcode-select --install)."
)


class BuildExtension(build_ext):
    """Build as usual, but say in one sentence what is missing without a compiler."""

    def build_extension(self, ext: Extension) -> None:
        try:
            super().build_extension(ext)
        except (CCompilerError, PlatformError, OSError) as error:
            if _compiler_works(self):
                raise
            raise SystemExit(NO_COMPILER) from error


def _compiler_works(command: build_ext) -> bool:
    """Tell a missing compiler from source that does not compile."""
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder) / "probe.c"
        source.write_text("#include <stdint.h>\nint main(void) { return 0; }\n")
        try:
            command.compiler.compile([str(source)], output_dir=folder)
        except Exception:
            return False
    return True


setup(
    cffi_modules=["tmux_wait/_build.py:ffi"],
    cmdclass={"build_ext": BuildExtension},
    options={"bdist_wheel": {"py_limited_api": "cp310"}},
)
