"""On what it was measured: the processor, the system, the compiler, the versions of the peers."""

from __future__ import annotations

import os
import platform
import subprocess
from datetime import datetime, timezone
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from bench.job import Missing
from bench.searchers import libhs_build
from tmux_wait._core import lib

PEERS = (
    "hyperscan", "ahocorasick-rs", "pyahocorasick", "google-re2", "pyte", "cffi",
    "pytest-benchmark",
)  # fmt: skip

_LEVELS = {
    lib.TW_SIMD_SCALAR: "scalar",
    lib.TW_SIMD_SSE2: "SSE2",
    lib.TW_SIMD_AVX2: "AVX2",
    lib.TW_SIMD_AVX512: "AVX-512",
    lib.TW_SIMD_NEON: "NEON",
}


def describe() -> dict[str, str]:
    """Return what there is to know, by its name."""
    said = {
        "date": datetime.now(timezone.utc).date().isoformat(),
        "commit": _output("git", "describe", "--always", "--dirty", "--exclude=*"),
        "processor": f"{_processor()}, {os.cpu_count()} cores, {platform.machine()}",
        "vectors": _LEVELS.get(lib.tw_simd_level(), "unknown"),
        "system": f"{_distribution()}, {platform.system()} {_major_minor(platform.release())}",
        "compiler": _output(os.environ.get("CC", "cc"), "--version"),
        "Python": f"{platform.python_implementation()} {platform.python_version()}",
    }
    for peer in PEERS:
        said[peer] = _version(peer)
    said["libhs"] = _libhs()
    return said


def _processor() -> str:
    """Return the model as the system has it."""
    if platform.system() == "Darwin":
        return _output("sysctl", "-n", "machdep.cpu.brand_string")
    try:
        facts = Path("/proc/cpuinfo").read_text()
    except OSError:
        return platform.processor() or "unknown"
    pairs = (line.partition(":") for line in facts.splitlines())
    fields = {name.strip(): value.strip() for name, _, value in pairs}
    if "model name" not in fields:
        return "unknown"
    family = f" (family {fields['cpu family']}, model {fields['model']})"
    return fields["model name"] + (family if "cpu family" in fields else "")


def _distribution() -> str:
    try:
        return platform.freedesktop_os_release()["PRETTY_NAME"]
    except OSError:
        return f"{platform.system()} {platform.mac_ver()[0]}".strip()


def _major_minor(release: str) -> str:
    return ".".join(release.split(".")[:2])


def _output(*command: str) -> str:
    """Return the first line that a program prints, or "unknown"."""
    try:
        done = subprocess.run(
            command, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=True
        )
    except (OSError, subprocess.CalledProcessError):
        return "unknown"
    return done.stdout.splitlines()[0] if done.stdout else "unknown"


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "not installed"


def _libhs() -> str:
    try:
        return libhs_build()
    except Missing:
        return "not installed"
