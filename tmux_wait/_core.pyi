# What cffi builds from csrc/tmux_wait.h; only stream.py looks at it.
from typing import Any

ffi: Any
lib: Any
