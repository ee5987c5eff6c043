"""The plot of a run: speeds as bars on one logarithmic scale, as SVG that needs nothing else.

Ours are blue, peers grey, the limits of the machine outlines. The background is its own, so that
the plot can be read on a page of any colour.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from html import escape

from bench import cases
from bench.cases import fused_stage, search_stage
from bench.job import OURS
from bench.measured import Measured, Speed
from bench.ratios import GIGA
from bench.report import figure, machine

# In pixels of the plot.
PANEL, LABELS, VALUE = 470, 205, 50
ROW, BAR, TITLE, AXIS, GAP = 20, 13, 30, 22, 14
MARGIN = 16

DECADES = (-3, 2)  # of GB/s: 1 MB/s to 100 GB/s

OURS_COLOUR, PEER_COLOUR, INK, FAINT = "#0969da", "#8c959f", "#1f2328", "#d8dee4"
FONT = "-apple-system, BlinkMacSystemFont, 'Segoe UI', 'Noto Sans', Helvetica, Arial, sans-serif"


@dataclass(frozen=True)
class Panel:
    """Bars under a title."""

    title: str
    bars: list[tuple[str, Speed]]

    @property
    def height(self) -> int:
        """In pixels."""
        return TITLE + ROW * len(self.bars) + AXIS


def _engines(measured: Measured, title: str, stage: str, text: str) -> Panel:
    """Compare all engines at a stage of a text, the fastest first."""
    held = [s for s in measured.speeds if (s.stage, s.text) == (stage, text)]
    held.sort(key=lambda speed: -speed.rate)
    return Panel(title, [(speed.engine, speed) for speed in held])


def _texts(measured: Measured, title: str, stage: str) -> Panel:
    """Compare the texts for ours."""
    held = [s for s in measured.speeds if (s.stage, s.engine) == (stage, OURS)]
    return Panel(title, [(speed.text, speed) for speed in held])


def _rows(measured: Measured) -> list[tuple[Panel, Panel]]:
    eight, fused = search_stage("8 literals"), fused_stage("8 literals")
    return [
        (
            _engines(measured, "8 literals ignoring case, coloured log", eight, "coloured"),
            _engines(measured, "8 literals ignoring case, near-miss log", eight, "near-miss"),
        ),
        (
            _engines(measured, "Fused pass, 8 literals, coloured log", fused, "coloured"),
            _engines(measured, "Fused pass, 8 literals, near-miss log", fused, "near-miss"),
        ),
        (
            _engines(measured, "Escape removal, coloured log", cases.STRIP, "coloured"),
            _engines(measured, "Octal unescaping, coloured log", cases.UNESCAPE, "coloured"),
        ),
        (
            _texts(measured, "Fused pass of tmux-wait, each text", fused),
            _texts(measured, "Escape removal by tmux-wait, each text", cases.STRIP),
        ),
    ]


def _x(rate: float) -> float:
    """Return where a speed stands on the scale, from the left edge of a panel."""
    low, high = DECADES
    at = (math.log10(max(rate / GIGA, 1e-9)) - low) / (high - low)
    return LABELS + min(1.0, max(0.0, at)) * (PANEL - LABELS - VALUE)


def _text(x: float, y: float, words: str, *, anchor: str = "start", extra: str = "") -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}"{extra}>{escape(words)}</text>'


def _scale(top: float, bottom: float) -> Iterator[str]:
    """Draw the decades."""
    for decade in range(DECADES[0], DECADES[1] + 1):
        x = _x(GIGA * 10.0**decade)
        yield f'<path d="M{x:.1f} {top}V{bottom}" stroke="{FAINT}"/>'
        words = f"{10 ** (decade % 3):g}" + {-3: " MB/s", 0: " GB/s"}.get(decade, "")
        yield _text(x, bottom + 13, words, anchor="middle", extra=' font-size="9"')


def _bar(row: int, label: str, speed: Speed) -> Iterator[str]:
    top = TITLE + ROW * row + (ROW - BAR) / 2
    width = _x(speed.rate) - LABELS
    ours = speed.engine.startswith(OURS)
    limit = speed.engine.startswith("mem")
    look = (
        f'fill="none" stroke="{PEER_COLOUR}"'
        if limit
        else f'fill="{OURS_COLOUR if ours else PEER_COLOUR}"'
    )
    weight = ' font-weight="600"' if ours else ""
    yield _text(LABELS - 6, top + BAR - 2.5, label, anchor="end", extra=weight)
    yield f'<rect x="{LABELS}" y="{top:.1f}" width="{width:.1f}" height="{BAR}" {look}/>'
    yield _text(LABELS + width + 5, top + BAR - 2.5, figure(speed.rate / GIGA), extra=weight)


def _panel(panel: Panel, x: float, y: float) -> Iterator[str]:
    yield f'<g transform="translate({x:.1f} {y:.1f})">'
    yield _text(0, 14, panel.title, extra=' font-size="13" font-weight="600"')
    yield from _scale(TITLE, TITLE + ROW * len(panel.bars))
    for row, (label, speed) in enumerate(panel.bars):
        yield from _bar(row, label, speed)
    yield "</g>"


def chart(measured: Measured) -> str:
    """Return the plot."""
    parts: list[str] = []
    y: float = MARGIN
    for row in _rows(measured):
        for column, panel in enumerate(row):
            parts += _panel(panel, MARGIN + column * (PANEL + GAP), y)
        y += max(panel.height for panel in row) + GAP
    for note in ("GB/s of each one's own input, medians, on one core.", machine(measured)):
        parts.append(_text(MARGIN, y + 4, note, extra=' font-size="9"'))
        y += 13
    width, height = 2 * MARGIN + 2 * PANEL + GAP, y + MARGIN / 2
    return "\n".join(
        (
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height:.0f}" '
            f'width="{width}" height="{height:.0f}" font-family="{FONT}" font-size="11" '
            f'fill="{INK}" role="img" aria-label="Speeds of tmux-wait and its peers">',
            f'<rect width="{width}" height="{height:.0f}" rx="6" fill="#ffffff"/>',
            *parts,
            "</svg>",
            "",
        )
    )
