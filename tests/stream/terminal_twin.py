"""A terminal line too simple to be wrong: lists of cells, one byte at a time, brute force search.

It says what ``LineScanner``, ``TextFilter`` and ``Scanner`` must say. It is slow on purpose:
nothing is incremental, every search looks at all the text.
"""

from __future__ import annotations

import unicodedata
from dataclasses import dataclass, field

from tmux_wait.stream import LineHit, Version, VersionEnd

REACH = 10_000  # cells that the cursor may go beyond a line that never wraps

# --- escape sequences: tmux's transition table, row by row ---

GROUND, ESC, ESC_I = "ground", "esc", "esc_i"
CSI, CSI_P, CSI_I, CSI_X = "csi", "csi_p", "csi_i", "csi_x"
OSC, STR, DCS, DCS_P, DCS_I, BODY, BODY_ESC = (
    "osc", "str", "dcs", "dcs_p", "dcs_i", "body", "body_esc"
)  # fmt: skip
C0 = [*range(0x18), 0x19, *range(0x1C, 0x20)]


def _table() -> dict[str, dict[int, tuple[str, str]]]:
    """Return state -> byte -> (action, next state)."""
    table: dict[str, dict[int, tuple[str, str]]] = {}

    def row(state: str, first: int, last: int, action: str, then: str) -> None:
        for byte in range(first, last + 1):
            table.setdefault(state, {})[byte] = (action, then)

    for state in (GROUND, ESC, ESC_I, CSI, CSI_P, CSI_I, CSI_X):
        for byte in C0:
            row(state, byte, byte, "control", state)
    for state in (OSC, STR, DCS, DCS_P, DCS_I):
        row(state, 0x00, 0xFF, "", state)
    for state in (ESC, ESC_I, CSI, CSI_P, CSI_I, CSI_X):
        row(state, 0x7F, 0xFF, "", state)
    row(GROUND, 0x20, 0x7E, "text", GROUND)
    row(GROUND, 0x7F, 0x7F, "", GROUND)
    row(GROUND, 0x80, 0xFF, "text", GROUND)
    row(ESC, 0x20, 0x2F, "collect", ESC_I)
    row(ESC, 0x30, 0x7E, "esc", GROUND)
    for introducer, then in zip(b"P[]X^_k", (DCS, CSI, OSC, STR, STR, STR, STR), strict=True):
        row(ESC, introducer, introducer, "", then)
    row(ESC_I, 0x20, 0x2F, "collect", ESC_I)
    row(ESC_I, 0x30, 0x7E, "esc", GROUND)
    row(CSI, 0x20, 0x2F, "collect", CSI_I)
    row(CSI, 0x30, 0x3B, "param", CSI_P)
    row(CSI, 0x3C, 0x3F, "collect", CSI_P)
    row(CSI_P, 0x20, 0x2F, "collect", CSI_I)
    row(CSI_P, 0x30, 0x3B, "param", CSI_P)
    row(CSI_P, 0x3C, 0x3F, "", CSI_X)
    row(CSI_I, 0x20, 0x2F, "collect", CSI_I)
    row(CSI_I, 0x30, 0x3F, "", CSI_X)
    row(CSI_X, 0x20, 0x3F, "", CSI_X)
    for state in (CSI, CSI_P, CSI_I):
        row(state, 0x40, 0x7E, "csi", GROUND)
    row(CSI_X, 0x40, 0x7E, "ignored", GROUND)
    row(OSC, 0x07, 0x07, "ignored", GROUND)
    for state in (DCS, DCS_P, DCS_I):
        row(state, 0x20, 0x2F, "", DCS_I)
        row(state, 0x30, 0x3F, "", STR if state == DCS_I else DCS_P)
        row(state, 0x3A, 0x3A, "", STR)
        row(state, 0x40, 0x7E, "", BODY)
    row(DCS_P, 0x3C, 0x3F, "", STR)
    row(BODY, 0x00, 0xFF, "", BODY)
    row(BODY, 0x1B, 0x1B, "", BODY_ESC)
    row(BODY_ESC, 0x00, 0xFF, "", BODY)
    row(BODY_ESC, 0x5C, 0x5C, "ignored", GROUND)
    for state in table:
        row(state, 0x18, 0x18, "ignored", GROUND)
        row(state, 0x1A, 0x1A, "ignored", GROUND)
        if state not in (BODY, BODY_ESC):
            row(state, 0x1B, 0x1B, "begin", ESC)
    return table


TABLE = _table()
assert all(sorted(row) == list(range(256)) for row in TABLE.values())


CELL = 32  # bytes that a cell can hold

# Characters that are not what their width says; of each kind those that the samples use.
VANISHES = "\u3164"
WIDENS = "\ufe0f"
REGIONAL = "\U0001f1e9\U0001f1ea"
TONES = "\U0001f3fb\U0001f3fc"
TONED = "\U0001f44d\U0001f468"
INITIALS = "\u1100\u1112"
ZERO = "\u200b\u200d\ufe0f\u1161\u11ab"


def width_of(char: str) -> int:
    """Return the cells of a character that stands alone; right for all that the samples use."""
    if char in ZERO or unicodedata.combining(char):
        return 0
    if char in REGIONAL:
        return 1
    return 2 if unicodedata.east_asian_width(char) in "WF" else 1


def are_one(first: str, char: str) -> bool:
    """Say whether a character joins a cell that begins with ``first``, and makes it wide."""
    return (
        (first in REGIONAL and char in REGIONAL)
        or (first in TONED and char in TONES)
        or (first in TONES and char in TONED)
    )


# --- the line ---


@dataclass(slots=True)
class Cell:
    """One cell: its bytes, each with the version it was written in (-1: none)."""

    bytes: list[tuple[int, int]] = field(default_factory=list)
    tail: bool = False


def blank() -> Cell:
    return Cell([(0x20, -1)])


class TerminalTwin:
    """What a scan does, the plain way. ``hits``, ``versions`` and ``lines`` collect its answers."""

    def __init__(
        self,
        literals: tuple[bytes, ...] = (),
        *,
        match_case: bool = False,
        width: int | None = None,
        context: int = 4096,
        limit: int = 65536,
        replace: bool = False,
    ) -> None:
        self.replace = replace
        self.fold = (lambda b: b) if match_case else bytes.lower
        self.literals = [self.fold(literal) for literal in literals]
        self.width = width
        self.limit = limit
        self.context = min(context, limit // 4)
        self.hits: list[LineHit] = []
        self.versions: list[Version] = []
        self.lines: list[bytes] = []
        self.before = b""  # all text before this line
        self.cells: list[Cell] = []
        self.row = self.column = 0
        self.version = self.write_cell = self.changed = self.carried = 0
        self.told: set[tuple[int, int]] = set()
        self.total = self.visible = 0
        self.alternate = self.insert = False
        self.wraps = True
        self.saved: tuple[int, int] | None = None
        self.saved_column = self.main_column = 0
        self.stops = set(range(0, REACH, 8))
        self.last: tuple[bytes, int, bool] | None = None
        self.state, self.middle, self.params = GROUND, b"", b""
        self.partial = b""

    # --- bytes ---

    def feed(self, data: bytes) -> None:
        for byte in data:
            self.byte(byte)

    def byte(self, byte: int) -> None:
        if self.partial and byte < 0x80:
            self.broken()
        action, self.state = TABLE[self.state][byte]
        if action == "text":
            self.text(byte)
            return
        repeat = action == "csi" and byte == ord("b") and self.middle == b""
        if action == "begin":
            self.middle = self.params = b""
        elif action == "collect":
            self.middle += bytes([byte])
        elif action == "param":
            self.params += bytes([byte])
        elif action == "control":
            self.control(byte)
        elif action == "esc":
            self.escape(chr(byte))
        elif action == "csi":
            self.csi(chr(byte))
        if byte < 0x20 and byte != 0x1B:
            self.last = None
        if self.state == GROUND and byte != 0x7F and not repeat:
            self.last = None

    def broken(self) -> None:
        partial, self.partial = self.partial, b""
        self.put("\ufffd".encode() if self.replace else partial, 1, False)

    def text(self, byte: int) -> None:
        if byte < 0x80:
            self.put(bytes([byte]), 1, byte == 0x20)
            return
        if self.partial and not self.begins_character(self.partial + bytes([byte])):
            self.broken()
        self.partial += bytes([byte])
        if not self.begins_character(self.partial):
            self.broken()
            return
        try:
            char = self.partial.decode()
        except UnicodeDecodeError:
            return
        data, self.partial = self.partial, b""
        if not "\x80" <= char <= "\x9f" and char not in VANISHES:
            self.put(data, width_of(char), char in "\xa0\u3000")

    @staticmethod
    def begins_character(data: bytes) -> bool:
        """Say whether ``data`` is, or may become, one well-formed character."""
        for end in (b"", b"\x80", b"\xbf", b"\x80\x80", b"\xbf\xbf", b"\x80\x80\x80"):
            for middle in (b"", b"\x90", b"\xa0"):
                try:
                    if len((data + middle + end).decode()) == 1:
                        return True
                except UnicodeDecodeError:
                    pass
        return False

    def control(self, byte: int) -> None:
        if byte == 0x08:
            if self.column > self.first_column():
                self.column -= 1
            elif self.width and self.row > 0:
                self.row -= self.width
                self.column = self.width - 1
        elif byte == 0x09:
            self.tab()
        elif byte == 0x0D:
            self.to_column(0)
        elif byte in b"\n\v\f":
            if self.width and self.row + self.width < len(self.cells):
                self.vertical(1)
            else:
                self.end(VersionEnd.LINE)
                self.total += 1

    def escape(self, final: str) -> None:
        if self.middle:
            if self.middle == b"#" and final == "8":
                self.leave(0)
        elif final == "7":
            self.save()
        elif final == "8":
            self.restore()
        elif final == "D":
            self.vertical(1)
        elif final == "M":
            self.vertical(-1)
        elif final == "E":
            self.leave(0)
        elif final == "c":
            self.insert, self.wraps = False, True
            self.stops = set(range(0, REACH, 8))
            self.leave(0)
        elif final == "H" and self.column != self.width:
            self.stops.add(self.column)

    def csi(self, final: str) -> None:
        if len(self.middle) > 4 or len(self.params) > 63:
            return
        fields = self.params.split(b";") if self.params else []
        if len(fields) > 24:
            return
        values: list[int | None] = []  # None: left out; -1: no number
        for one in fields:
            values.append(None if one == b"" else -1 if b":" in one else int(one))
            if values[-1] is not None and values[-1] > 0x7FFFFFFF:
                return
        if final in "hl" and self.middle in (b"", b"?"):
            self.mode(values, final == "h")
            return
        if self.middle:
            return
        first = values[0] if values else None
        if final in "Hf":
            column = values[1] if len(values) > 1 else None
            self.leave(max(column if column not in (None, -1) else 1, 1) - 1)
        elif final == "r":
            self.leave(0)
        elif final in "LMSTd":
            self.leave(None)
        elif final == "s":
            self.save()
        elif final == "u":
            self.restore()
        elif first != -1:
            which = 0 if first is None else first
            if final == "J":
                self.erase_screen(which)
            elif final == "g" and which == 3:
                self.stops.clear()
            elif final == "g" and which == 0 and self.column != self.width:
                self.stops.discard(self.column)
            elif final == "K":
                self.erase_line(which)
            else:
                self.counted(final, max(which, 1))

    def mode(self, values: list[int | None], on: bool) -> None:
        for value in values:
            if self.middle == b"?" and value in (3, 6):
                self.leave(0)
                return
            if self.middle == b"?" and value in (47, 1047, 1049):
                column = self.column
                self.leave(None if on else self.main_column)
                if on:
                    self.main_column, self.alternate = column, True
                return
        for value in values:
            if self.middle == b"?" and value == 7:
                self.wraps = on
            elif self.middle == b"" and value == 4:
                self.insert = on

    def counted(self, final: str, n: int) -> None:
        if final == "@":
            self.insert_cells(n)
        elif final in "AF":
            self.move(-n, final == "F")
        elif final in "BE":
            self.move(n, final == "E")
        elif final == "C":
            self.to_column(self.column + min(n, REACH))
        elif final == "D":
            self.to_column(max(self.column - n, 0))
        elif final in "G`":
            self.to_column(n - 1)
        elif final == "Z":
            before = self.column - (self.column == self.width)
            back = [column for column in range(before) if column in self.stops]
            self.to_column(back[-n] if n <= len(back) else 0)
        elif final == "P":
            self.delete_cells(n)
        elif final == "X":
            _, end, inside = self.row_span()
            if inside:
                self.erase(self.cursor(), min(self.cursor() + n, end))
        elif final == "b":
            n = min(n, self.width - self.column if self.width else REACH)
            for _ in range(n if self.last else 0):
                assert self.last is not None
                self.put(*self.last)
            self.last = None

    # --- the cursor ---

    def cursor(self) -> int:
        return self.row + self.column

    def first_column(self) -> int:
        return max(-self.row, 0)

    def to_column(self, column: int) -> None:
        last = self.width - 1 if self.width else self.first_column() + len(self.cells) + REACH
        self.column = max(min(column, last), self.first_column())

    def tab(self) -> None:
        last = self.width - 1 if self.width else self.column + REACH
        if self.column < last:
            ahead = (c for c in range(self.column + 1, last) if c in self.stops or c >= REACH)
            self.to_column(next((c for c in ahead if c < REACH or c % 8 == 0), last))

    def vertical(self, rows: int) -> None:
        if self.width:
            row = self.row + rows * self.width
            if row + self.width > 0 and row < len(self.cells):
                self.row = row
                self.column = max(self.column, self.first_column())
                return
        self.leave(None)

    def move(self, rows: int, start: bool) -> None:
        if start:
            self.to_column(0)
        elif self.width and self.column == self.width:
            self.column -= 1
        self.vertical(rows)

    def save(self) -> None:
        self.saved = (self.row, self.column)
        self.saved_column = self.column

    def restore(self) -> None:
        if self.saved is None:
            self.leave(self.saved_column)
            return
        self.row, self.column = self.saved
        if self.width and self.column == self.width:
            self.to_column(self.width - 1)

    def row_span(self) -> tuple[int, int, bool]:
        end = len(self.cells)
        if self.width:
            end = min(end, self.row + self.width)
        return max(self.row, 0), end, not self.width or self.column < self.width

    def place(self, cell: int, width: int | None) -> None:
        self.width = width
        self.column = cell % width if width else cell
        if width and self.column == 0 and cell and cell == len(self.cells):
            self.column = width
        self.row = cell - self.column

    # --- the cells ---

    def raw(self) -> list[tuple[int, int]]:
        return [pair for cell in self.cells for pair in cell.bytes]

    def line(self) -> bytes:
        return bytes(byte for byte, _ in self.raw())

    def byte_of(self, cell: int) -> int:
        return sum(len(c.bytes) for c in self.cells[:cell])

    @property
    def size(self) -> int:
        return self.byte_of(len(self.cells))

    @property
    def write(self) -> int:
        return self.byte_of(self.write_cell)

    def is_tail(self, cell: int) -> bool:
        return cell < len(self.cells) and self.cells[cell].tail

    def edge(self, cell: int) -> int:
        return cell - 1 if self.is_tail(cell) else cell

    def split(self, cell: int) -> None:
        if self.is_tail(cell):
            self.cells[cell - 1 : cell + 1] = [blank(), blank()]

    def fits(self, cells: list[Cell]) -> bool:
        return len(cells) <= self.limit and sum(len(c.bytes) for c in cells) <= self.limit

    def append_blanks(self) -> None:
        while self.cursor() > len(self.cells):
            if max(len(self.cells), self.size) == self.limit:
                self.end(VersionEnd.CUT)
            else:
                self.cells.append(blank())

    def put(self, data: bytes, width: int, is_blank: bool) -> None:
        self.last = (data, width, is_blank)
        if self.joins(data, width):
            self.visible += 0 if width == 0 or is_blank else 1
            return
        if self.width == 1:
            width = 1
        wrapped = bool(self.width and self.column + width > self.width)
        if wrapped:
            if not self.wraps:
                return
            self.wrap()
        self.append_blanks()
        self.edit(self.edge(self.cursor()))
        new = [Cell([(byte, self.version) for byte in data])]
        if width == 2:
            new.append(Cell(tail=True))
        at = self.cursor()
        insert = self.insert and not wrapped
        self.split(at)
        if not insert:
            self.split(at + width)
        if not self.fits(self.cells[:at] + new + self.cells[at + width :]):
            del self.cells[at:]
            if not self.fits(self.cells + new):
                self.end(VersionEnd.CUT)
                at = self.cursor()
                new[0].bytes = [(byte, self.version) for byte in data]
        self.pass_to(at)
        if insert and at < len(self.cells):
            self.shift(width)
            if not self.fits(self.cells[:at] + new + self.cells[at + width :]):
                del self.cells[at:]
        self.cells[at : at + width] = new
        assert self.fits(self.cells)
        self.column += width
        if not self.wraps and self.column == self.width:
            self.column -= 1
        self.wrote(self.byte_of(at), len(data), at + width)
        self.visible += not is_blank

    def wrap(self) -> None:
        assert self.width
        if self.column < self.width:
            self.append_blanks()
            if self.cursor() == len(self.cells):
                if len(self.cells) == self.limit:
                    self.end(VersionEnd.CUT)
                self.cells.append(Cell())
        self.row += self.width
        self.column = 0

    def joins(self, data: bytes, width: int) -> bool:
        """Write what joins the cell before the cursor; False for what stands alone."""
        mark = width == 0
        if mark and self.column:
            self.append_blanks()
        at = self.cursor()
        if self.column <= self.first_column() or at > len(self.cells) or self.is_tail(at):
            return mark
        head = self.edge(at - 1)
        before = bytes(byte for byte, _ in self.cells[head].bytes)
        if len(before) + len(data) > CELL or self.size + len(data) > self.limit:
            return mark
        char, text = data.decode(errors="replace"), before.decode(errors="replace")
        if "\ufffd" in char or char < "\x80" or char in INITIALS:
            return False
        two = char in WIDENS or (text != "" and are_one(text[0], char))
        if char in REGIONAL and head < at - 1:
            two = False  # a flag is complete
        if not (mark or two or text.endswith("\u200d")):
            return False
        widens = two and head == at - 1 and self.column != self.width and at != self.limit
        self.edit(at)
        if widens:
            self.split(at + 1)
        self.pass_to(at)
        begin = self.byte_of(at)
        self.cells[head].bytes += [(byte, self.version) for byte in data]
        if widens:
            self.cells[at : at + 1] = [Cell(tail=True)]
            self.column += 1
        self.wrote(begin, len(data), at + widens)
        return True

    def erase(self, begin: int, end: int) -> None:
        end = min(end, len(self.cells))
        if begin >= end:
            return
        self.edit(self.edge(begin))
        self.split(begin)
        self.split(end)
        rest = self.cells[end:]
        blanks = [blank() for _ in range(end - begin)]
        del self.cells[begin:]
        if rest and self.fits(self.cells + blanks + rest):
            self.cells += blanks + rest

    def erase_line(self, which: int) -> None:
        begin, end, inside = self.row_span()
        if which == 0 and inside:
            self.erase(self.cursor(), end)
        elif which == 1:
            self.erase(begin, min(self.cursor() + 1, end) if inside else end)
        elif which == 2:
            self.erase(begin, end)

    def erase_screen(self, which: int) -> None:
        if which == 0:
            self.erase(self.cursor(), len(self.cells))
        elif which < 3:
            self.leave(None)

    def delete_cells(self, n: int) -> None:
        _, end, inside = self.row_span()
        at = self.cursor()
        if not inside or at >= end:
            return
        self.edit(self.edge(at))
        n = min(n, end - at)
        for cell in (at, at + n, end):
            self.split(cell)
        moved, rest = self.cells[at + n : end], self.cells[end:]
        if rest:
            moved += [blank() for _ in range(n)]
        if self.fits(self.cells[:at] + moved + rest):
            self.cells[at:] = moved + rest
        else:
            del self.cells[at:]

    def insert_cells(self, n: int) -> None:
        _, end, inside = self.row_span()
        if inside and self.cursor() < end:
            self.edit(self.edge(self.cursor()))
            self.shift(n)

    def shift(self, n: int) -> None:
        """Insert blanks at the cursor; what leaves the row is lost."""
        _, end, _ = self.row_span()
        at = self.cursor()
        room = self.width - self.column if self.width else REACH
        n = min(n, room)
        lost = max(end - at - (room - n), 0) if self.width else 0
        for cell in (at, end - lost, end):
            self.split(cell)
        new = [blank() for _ in range(n)] + self.cells[at : end - lost] + self.cells[end:]
        if self.fits(self.cells[:at] + new):
            self.cells[at:] = new
        else:
            del self.cells[at:]

    # --- versions ---

    def occurrences(self, end: int, text: bytes) -> list[tuple[int, int]]:
        """Return (literal, start) of every literal that ends at byte ``end`` of the line."""
        all_text = self.fold(self.before + text[:end])
        return [
            (i, end - len(literal))
            for i, literal in enumerate(self.literals)
            if all_text.endswith(literal)
        ]

    def hit(self, literal: int, start: int, end: int, offset: int, complete: bool) -> None:
        if (literal, end) not in self.told:
            self.hits.append(LineHit(self.version, literal, start, end, offset, complete))

    def left_over(self, begin: int, end: int, complete: bool) -> list[tuple[int, int]]:
        """Report what ends in (begin, end] and holds a byte written in this version."""
        raw = self.raw()
        text = self.line()
        told = []
        for at in range(begin + 1, end + 1):
            for literal, start in self.occurrences(at, text):
                if any(version == self.version for _, version in raw[max(start, 0) : at]):
                    self.hit(literal, start, at, self.total, complete)
                    told.append((literal, at))
        return told

    def pass_to(self, cell: int) -> None:
        self.left_over(self.write, self.byte_of(cell), complete=False)

    def wrote(self, begin: int, size: int, cell: int) -> None:
        text = self.line()
        for i in range(1, size + 1):
            for literal, start in self.occurrences(begin + i, text):
                self.hit(literal, start, begin + i, self.total + i, False)
        self.write_cell = cell
        self.total += size

    def edit(self, cell: int) -> None:
        if cell < self.write_cell:
            self.end(VersionEnd.REDRAWN)
            self.write_cell = cell
            self.changed = self.write
            self.carried = min(self.carried, self.write)

    def end(self, how: VersionEnd) -> None:
        text = self.line()
        write = self.write
        self.left_over(write, len(text), complete=True)
        ends_line = how in (VersionEnd.LINE, VersionEnd.LEFT)
        if ends_line:
            for literal, start in self.occurrences(len(text) + 1, text + b"\n"):
                offset = self.total + (how is VersionEnd.LINE)
                self.hit(literal, start, len(text) + 1, offset, write < len(text))
        begin, window = 0, text
        if how is VersionEnd.REDRAWN:
            begin, window = self.window(text, write)
        else:
            self.lines.append(text[self.carried :] + b"\n")
        self.versions.append(
            Version(self.version, window, begin, write, self.carried, how, len(text))
        )
        self.version += 1
        self.told.clear()
        if how is VersionEnd.CUT:
            self.carry()
        elif how is not VersionEnd.REDRAWN:
            self.before = self.before + text + b"\n" if ends_line else b""
            self.clear()

    def window(self, text: bytes, write: int) -> tuple[int, bytes]:
        begin = max(self.changed - self.context, 0)
        end = min(write + self.context, len(text))
        for _ in range(3):
            if 0 < begin < len(text) and text[begin] & 0xC0 == 0x80:
                begin -= 1
            if end < len(text) and text[end] & 0xC0 == 0x80:
                end += 1
        return begin, text[begin:end]

    def clear(self) -> None:
        self.cells.clear()
        self.row = self.column = 0
        self.write_cell = self.changed = self.carried = 0
        self.saved = None

    def carry(self) -> None:
        text = self.line()
        n = next(
            n
            for n in range(len(self.cells) + 1)
            if len(text) - self.byte_of(n) <= self.context
            and len(self.cells) - n <= self.context
            and not self.is_tail(n)
        )
        cursor = self.cursor() - n
        self.before += text[: self.byte_of(n)]
        del self.cells[:n]
        for cell in self.cells:
            cell.bytes = [(byte, -1) for byte, _ in cell.bytes]
        self.row -= n
        if not self.width and self.row < 0:
            self.row = -(-self.row % 8)
        self.column = cursor - self.row
        if self.saved is not None:
            self.saved = (self.saved[0] - n, self.saved[1])
            if sum(self.saved) < 0:
                self.saved = None
        self.write_cell = len(self.cells)
        self.changed = self.carried = self.size

    def leave(self, column: int | None) -> None:
        if column is None:
            column = self.column
        if self.size:
            self.end(VersionEnd.LEFT)
        else:
            self.cells.clear()
            self.row = self.column = self.write_cell = 0
            self.saved = None
        self.to_column(column)

    # --- what the caller does ---

    def quiet(self) -> None:
        self.told.update(self.left_over(self.write, self.size, complete=True))

    def finish(self) -> None:
        if self.partial:
            self.broken()
        if self.size:
            self.end(VersionEnd.FINISHED)
        else:
            self.leave(0)

    def resize(self, width: int | None) -> None:
        if width != self.width:
            self.place(self.cursor(), width)
            self.saved = None
            self.stops = set(range(0, REACH, 8))

    def seed(self, text: bytes, cursor: int) -> None:
        literals, self.literals = self.literals, []
        self.feed(text)
        if self.partial:
            self.broken()
        self.literals = literals
        self.hits, self.versions, self.lines, self.before = [], [], [], b""
        for cell in self.cells:
            cell.bytes = [(byte, -1) for byte, _ in cell.bytes]
        self.place(min(cursor, len(self.cells) + REACH), self.width)
        self.write_cell = self.edge(cursor) if cursor < len(self.cells) else len(self.cells)
        self.changed = self.write
        self.version = self.total = self.visible = self.carried = 0
        self.last = None
