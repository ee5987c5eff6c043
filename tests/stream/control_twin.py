"""The control-mode parser as a loop over whole lines, and the scanner built from it."""

from __future__ import annotations

import re
from collections import OrderedDict

from terminal_twin import TerminalTwin

from tmux_wait.stream import Event, Hit, Notification, Output, Reply

OUTPUT = re.compile(rb"%output %(\d+) ", re.DOTALL)
EXTENDED = re.compile(rb"%extended-output %(\d+) (?:.*? )??: ", re.DOTALL)
GUARD = re.compile(rb"%(begin|end|error) (\d+) (\d+) (\d+)")
OCTAL = re.compile(rb"\\([0-3][0-7][0-7])")
HEAD = 256  # bytes within which the data of an output line must begin


def output_of(line: bytes) -> tuple[int, bytes] | None:
    """Return pane and data of an output line."""
    found = OUTPUT.match(line) or EXTENDED.match(line)
    if not found or int(found[1]) > 0xFFFFFFFF or found.end() > HEAD:
        return None
    data = OCTAL.sub(lambda octal: bytes([int(octal[1], 8)]), line[found.end() :])
    return int(found[1]), data


def control_twin(data: bytes) -> list[Event]:
    """Return the events of whole lines (what follows the last line feed is ignored)."""
    events: list[Event] = []
    begun: re.Match[bytes] | None = None
    body = b""
    for line in data.split(b"\n")[:-1]:
        line = line.removesuffix(b"\r")
        guard = GUARD.fullmatch(line)
        if begun:
            if guard and guard[1] != b"begin" and guard.group(2, 3) == begun.group(2, 3):
                events.append(Reply(int(begun[3]), int(begun[4]), guard[1] == b"end", body))
                begun = None
            else:
                body += line + b"\n"
            continue
        while line.startswith(b"\x1bP1000p"):
            line = line[7:]
        guard = GUARD.fullmatch(line)
        output = output_of(line)
        if guard and guard[1] == b"begin":
            begun, body = guard, b""
        elif output:
            events.append(Output(*output))
        elif line.startswith(b"%"):
            name, _, args = line[1:].partition(b" ")
            events.append(Notification(name.decode("ascii", "replace"), args))
        elif line:
            events.append(Notification("", line))
    return events


class ScannerTwin:
    """A terminal twin for each pane; hits come with the version that holds them."""

    def __init__(self, literals: tuple[bytes, ...], *, panes: int = 128, **options: object) -> None:
        self.literals = literals
        self.options = options
        self.panes: OrderedDict[int | None, TerminalTwin] = OrderedDict()
        self.most = panes
        self.found: list[Hit] = []

    def write(self, pane: int | None, data: bytes) -> None:
        if pane not in self.panes:
            if len(self.panes) == self.most:
                oldest = next(iter(self.panes))
                self.panes[oldest].finish()
                self.collect(oldest)
                del self.panes[oldest]
            self.panes[pane] = TerminalTwin(self.literals, **self.options)  # type: ignore[arg-type]
        self.panes.move_to_end(pane)
        self.panes[pane].feed(data)
        self.collect(pane)

    def collect(self, pane: int | None) -> None:
        """Move the hits of completed versions to ``found``."""
        twin = self.panes[pane]
        for version in twin.versions:
            for hit in twin.hits:
                if hit.version == version.version:
                    self.found.append(Hit(pane, hit.pattern, hit.offset, version.text))
        last = twin.version
        twin.hits = [hit for hit in twin.hits if hit.version == last]
        twin.versions.clear()

    def finish(self) -> list[Hit]:
        for pane in sorted(self.panes, key=lambda pane: pane or 0):
            self.panes[pane].finish()
            self.collect(pane)
        return self.found
