"""Where a pane's output comes from: one protocol, several ears."""

from tmux_wait.observe.protocol import Data, Ended, EndReason, Observer, Row, Rows, Scanned

__all__ = ["Data", "EndReason", "Ended", "Observer", "Row", "Rows", "Scanned"]
