"""The report of a run, and README's part of it: Markdown made of what was measured."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from bench import cases
from bench.measured import Measured, Speed
from bench.ratios import GIGA, MICRO, Result, target
from bench.texts import TEXTS

BEGIN, END = "<!-- bench: begin -->", "<!-- bench: end -->"


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a Markdown table; columns of figures stand to the right."""
    held = list(rows)
    rules = [
        "---:" if all(re.match(r"\d|$", row[column]) for row in held) else "---"
        for column in range(len(head))
    ]
    lines = [head, rules, *held]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def ratios(results: Iterable[Result]) -> str:
    """Return the table of the numbers to reach."""
    return table(
        (
            "what",
            "beside",
            "measured",
            "quartiles",
            "to reach",
            "reached",
            "ours GB/s",
            "beside GB/s",
        ),
        (
            (
                result.name,
                result.beside,
                _value(result),
                f"{result.low:.2f} to {result.high:.2f}",
                target(result),
                _reached(result),
                f"{result.ours_speed / GIGA:.3f}",
                f"{result.other_speed / GIGA:.3f}",
            )
            for result in results
        ),
    )


def _speeds(measured: Measured) -> Iterable[str]:
    """Yield a table a stage: engines down, texts across."""
    for stage in dict.fromkeys(speed.stage for speed in measured.speeds):
        yield f"### {stage[0].upper()}{stage[1:]}\n"
        held = [speed for speed in measured.speeds if speed.stage == stage]
        texts = list(dict.fromkeys(speed.text for speed in held))
        unit = "µs" if stage in (cases.FEEDS_SMALL, cases.FEEDS_PAGE, cases.BUILD) else "GB/s"
        yield table(
            (unit, *texts),
            (
                (engine, *(_cell(measured.speed(stage, text, engine), unit) for text in texts))
                for engine in dict.fromkeys(speed.engine for speed in held)
            ),
        )
        yield ""


def _cell(speed: Speed | None, unit: str) -> str:
    if speed is None:
        return ""
    if unit == "µs":
        return f"{speed.seconds / speed.feeds / MICRO:.3g}"
    return figure(speed.rate / GIGA)


def figure(value: float) -> str:
    """Write three figures, never with an exponent."""
    return f"{value:.1f}" if value >= 10 else f"{value:.2f}" if value >= 1 else f"{value:.3f}"


def _texts(measured: Measured) -> str:
    return table(
        ("text", "MB raw", "as control lines", "stripped", "what it is"),
        (
            (name, *(f"{size / 1e6:.2f}" for size in sizes), TEXTS[name].about)
            for name, sizes in measured.texts.items()
        ),
    )


def machine(measured: Measured) -> str:
    """Name the machine in a sentence."""
    said = measured.machine
    return (
        f"{said['processor']}, {said['vectors']}; {said['system']}; {said['compiler']}; "
        f"{said['Python']}; {said['date']}"
    )


def report(measured: Measured) -> str:
    """Return the whole report."""
    parts = [
        "# What the stream core costs, beside its peers",
        "",
        "Written by `make bench`; the figures are in `measured.json`, the plot in `speed.svg`.",
        "",
        table(("", "measured on"), ([name, said] for name, said in measured.machine.items())),
        "",
        "## Numbers to reach",
        "",
        "Each ratio is the median over rounds in which ours and the other take turns on one core, "
        "with the quartiles beside it. GB/s are of each one's own input: control-mode bytes for "
        "the fused pass and for unescaping, raw bytes for escape removal, stripped text for a "
        "search. *Own bytes* compares those, *same content* compares the times for the same "
        "output of a pane. Every engine gave the same answer as ours before it was timed.",
        "",
        ratios(measured.ratios),
        "",
        "## Every stage on every text",
        "",
        "GB/s of the engine's own input, medians. A name with *search alone* is the search of text "
        "that was stripped before, on which none of the rest was done. Those that cannot ignore "
        "case got lowered text. `re.sub` removes the sequences, `translate` the other controls. "
        "*hyperscan* is the package of that name, *libhs* the Hyperscan of the system, which "
        "picks the vectors of the processor itself; *as regexes*: built from escaped expressions "
        "instead of by the compiler for literals. *leftmost* finds no overlapping occurrences.",
        "",
        *_speeds(measured),
        "## The texts",
        "",
        "What the coloured log says is what the plain one says: stripped, they are one text.",
        "",
        _texts(measured),
        "",
    ]
    return "\n".join(parts)


def essence(measured: Measured) -> str:
    """Return README's plot and table."""
    rows = [
        (name, result.beside, _value(result), target(result), _reached(result))
        for name, result in _worst(measured.ratios)
    ]
    return "\n".join(
        (
            BEGIN,
            "",
            "![Speeds of tmux-wait and its peers](bench/results/speed.svg)",
            "",
            table(("what", "beside", "measured", "to reach", "reached"), rows),
            "",
            f"On {machine(measured)}.",
            "",
            END,
        )
    )


def _worst(results: Iterable[Result]) -> Iterable[tuple[str, Result]]:
    """Yield what a row shall say; of costs of one kind only the highest."""
    kinds: dict[str, list[Result]] = {}
    for result in results:
        kind = result.name.partition(",")[0] if result.at_most else f"{result.name} {result.beside}"
        kinds.setdefault(kind, []).append(result)
    for held in kinds.values():
        worst = max(held, key=lambda result: result.value)
        name = f"{worst.name} (the most of {len(held)})" if len(held) > 1 else worst.name
        yield name, worst


def _value(result: Result) -> str:
    return f"{result.value:.2f} {result.unit}".strip()


def _reached(result: Result) -> str:
    return {True: "yes", False: "no", None: ""}[result.reached]


def into(readme: str, measured: Measured) -> str:
    """Return README with its part made anew; ValueError if it has no place for it."""
    place = re.compile(f"{re.escape(BEGIN)}.*{re.escape(END)}", re.DOTALL)
    if not place.search(readme):
        raise ValueError(f"README has no {BEGIN} … {END}")
    return place.sub(lambda _: essence(measured), readme)
