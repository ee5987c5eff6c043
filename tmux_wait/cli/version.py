"""Which version is installed? In a module of its own: the answer costs 30 ms of imports."""

from importlib.metadata import PackageNotFoundError
from importlib.metadata import version as installed_version


def version() -> str:
    """Return the installed distribution's version, or say that there is none."""
    try:
        return installed_version("tmux-wait")
    except PackageNotFoundError:  # run from a checkout that was never installed
        return "(not installed)"
