"""Multi-literal search: ours and everybody else's, each in its fastest configuration.

An engine that cannot ignore case searches a text that was lowered before the clock started.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from ctypes.util import find_library
from dataclasses import dataclass
from importlib import import_module
from typing import Any, TypeAlias

from bench.job import OURS, Answer, Job, Missing
from tmux_wait.stream import LiteralMatcher

Literals: TypeAlias = Sequence[bytes]


@dataclass(frozen=True)
class Searcher:
    """``search`` is timed; ``prepare`` makes a text ready before, ``answer`` reads the result."""

    search: Callable[[Any], Any]
    answer: Callable[[Any], Answer]
    prepare: Callable[[bytes], Any] = bytes

    def job(self, text: bytes) -> Job:
        """Search ``text``."""
        ready = self.prepare(text)
        return Job(len(text), lambda: self.search(ready), self.answer)


def load(module: str, package: str) -> Any:
    """Import a peer; raise ``Missing`` if it is not installed."""
    try:
        return import_module(module)
    except ImportError:
        raise Missing(f"{package} is not installed (pip install '.[bench]')") from None


def ours(literals: Literals, match_case: bool) -> Searcher:
    """Return our LiteralMatcher."""
    matcher = LiteralMatcher(literals, match_case=match_case)
    return Searcher(matcher.feed, lambda found: [(index, end) for index, _, end in found])


def hyperscan(literals: Literals, match_case: bool, *, pure: bool = True) -> Searcher:
    """Return hyperscan's block mode; ``pure``: its compiler for literals, else that for regexes."""
    module = load("hyperscan", "hyperscan")
    database = module.Database(mode=module.HS_MODE_BLOCK)
    database.compile(
        expressions=list(literals) if pure else [re.escape(literal) for literal in literals],
        ids=list(range(len(literals))),
        elements=len(literals),
        flags=[0 if match_case else module.HS_FLAG_CASELESS] * len(literals),
        literal=pure,
    )
    database.scratch = module.Scratch(database)

    def search(text: bytes) -> list[tuple[int, int]]:
        found: list[tuple[int, int]] = []

        def on_hit(index: int, _start: int, end: int, _flags: int, _context: object) -> None:
            found.append((index, end))

        database.scan(text, match_event_handler=on_hit)
        return found

    return Searcher(search, lambda found: found)


def hyperscan_regex(literals: Literals, match_case: bool) -> Searcher:
    """Return hyperscan with the literals as expressions."""
    return hyperscan(literals, match_case, pure=False)


_HS = """
typedef struct hs_database hs_database_t;
typedef struct hs_scratch hs_scratch_t;
typedef struct { char *message; int expression; } hs_compile_error_t;
int hs_compile_lit_multi(const char *const *expressions, const unsigned *flags,
    const unsigned *ids, const size_t *lens, unsigned elements, unsigned mode,
    const void *platform, hs_database_t **db, hs_compile_error_t **error);
int hs_compile_multi(const char *const *expressions, const unsigned *flags,
    const unsigned *ids, unsigned elements, unsigned mode,
    const void *platform, hs_database_t **db, hs_compile_error_t **error);
int hs_alloc_scratch(const hs_database_t *db, hs_scratch_t **scratch);
int hs_free_scratch(hs_scratch_t *scratch);
int hs_free_database(hs_database_t *db);
int hs_scan(const hs_database_t *db, const char *data, unsigned length, unsigned flags,
    hs_scratch_t *scratch, int (*on_hit)(unsigned, unsigned long long, unsigned long long,
    unsigned, void *), void *context);
const char *hs_version(void);
int hs_database_info(const hs_database_t *db, char **info);
"""
_HS_CASELESS, _HS_BLOCK = 1, 1


def load_libhs() -> tuple[Any, Any]:
    """Return cffi's FFI and the system's own Hyperscan, which picks AVX2 or AVX-512 itself."""
    name = find_library("hs")
    if name is None:
        raise Missing("libhs is not installed (Debian: apt-get install libhyperscan5)")
    ffi = load("cffi", "cffi").FFI()
    ffi.cdef(_HS)
    return ffi, ffi.dlopen(name)


def libhs(literals: Literals, match_case: bool, *, pure: bool = True) -> Searcher:
    """Return the system's Hyperscan: the same block scan through a build for this processor."""
    ffi, lib = load_libhs()
    count = len(literals)
    database, scratch = ffi.new("hs_database_t **"), ffi.new("hs_scratch_t **")
    sources = literals if pure else [re.escape(literal) for literal in literals]
    held = [ffi.new("char[]", source) for source in sources]
    expressions = (
        ffi.new("char *[]", held),
        ffi.new("unsigned[]", [0 if match_case else _HS_CASELESS] * count),
        ffi.new("unsigned[]", list(range(count))),
    )
    rest = (count, _HS_BLOCK, ffi.NULL, database, ffi.new("hs_compile_error_t **"))
    if pure:
        sizes = ffi.new("size_t[]", [len(source) for source in sources])
        status = lib.hs_compile_lit_multi(*expressions, sizes, *rest)
    else:
        status = lib.hs_compile_multi(*expressions, *rest)
    status = status or lib.hs_alloc_scratch(database[0], scratch)
    if status:
        raise Missing(f"libhs cannot build its database here (status {status})")
    compiled = ffi.gc(database[0], lib.hs_free_database)
    room = ffi.gc(scratch[0], lib.hs_free_scratch)
    found: list[tuple[int, int]] = []

    @ffi.callback(  # type: ignore[untyped-decorator]
        "int(unsigned, unsigned long long, unsigned long long, unsigned, void *)"
    )
    def on_hit(index: int, _start: int, end: int, _flags: int, _context: object) -> int:
        found.append((index, end))
        return 0

    def search(text: bytes) -> list[tuple[int, int]]:
        found.clear()
        lib.hs_scan(compiled, ffi.from_buffer(text), len(text), 0, room, on_hit, ffi.NULL)
        return found

    return Searcher(search, list)


def libhs_regex(literals: Literals, match_case: bool) -> Searcher:
    """Return the system's Hyperscan with the literals as expressions."""
    return libhs(literals, match_case, pure=False)


def libhs_build() -> str:
    """Say which Hyperscan the system's is, and what it was built for."""
    ffi, lib = load_libhs()
    database, info = ffi.new("hs_database_t **"), ffi.new("char **")
    flags, ids = ffi.new("unsigned[]", [0]), ffi.new("unsigned[]", [0])
    expressions = ffi.new("char *[]", [held := ffi.new("char[]", b"a")])
    error = ffi.new("hs_compile_error_t **")
    lib.hs_compile_multi(expressions, flags, ids, 1, _HS_BLOCK, ffi.NULL, database, error)
    lib.hs_database_info(database[0], info)
    del held
    lib.hs_free_database(database[0])
    return str(ffi.string(info[0]).decode())


def _lower(literals: Literals, match_case: bool) -> tuple[list[bytes], Callable[[bytes], bytes]]:
    if match_case:
        return list(literals), bytes
    return [literal.lower() for literal in literals], bytes.lower


def ahocorasick_rs(literals: Literals, match_case: bool) -> Searcher:
    """Return ahocorasick-rs with its DFA, for all occurrences as ours."""
    module = load("ahocorasick_rs", "ahocorasick-rs")
    folded, prepare = _lower(literals, match_case)
    automaton = module.BytesAhoCorasick(folded, implementation=module.Implementation.DFA)

    def search(text: bytes) -> Any:
        return automaton.find_matches_as_indexes(text, overlapping=True)

    return Searcher(search, lambda found: [(index, end) for index, _, end in found], prepare)


def ahocorasick_rs_leftmost(literals: Literals, match_case: bool) -> Searcher:
    """Return ahocorasick-rs for leftmost occurrences only, which lets it use packed search."""
    module = load("ahocorasick_rs", "ahocorasick-rs")
    folded, prepare = _lower(literals, match_case)
    automaton = module.BytesAhoCorasick(folded, matchkind=module.MatchKind.LeftmostFirst)
    return Searcher(
        automaton.find_matches_as_indexes,
        lambda found: [(index, end) for index, _, end in found],
        prepare,
    )


def pyahocorasick(literals: Literals, match_case: bool) -> Searcher:
    """Return pyahocorasick, which searches str: each byte is made a character before."""
    module = load("ahocorasick", "pyahocorasick")
    folded, lower = _lower(literals, match_case)
    automaton = module.Automaton()
    for index, literal in enumerate(folded):
        automaton.add_word(literal.decode("latin-1"), index)
    automaton.make_automaton()
    return Searcher(
        lambda text: list(automaton.iter(text)),
        lambda found: [(index, last + 1) for last, index in found],
        lambda text: lower(text).decode("latin-1"),
    )


def re_alternation(literals: Literals, match_case: bool) -> Searcher:
    """Return Python's re."""
    source = b"|".join(re.escape(literal) for literal in literals)
    pattern = re.compile(source, 0 if match_case else re.IGNORECASE)
    return Searcher(
        lambda text: [match.end() for match in pattern.finditer(text)], lambda ends: ends
    )


def re2_options(match_case: bool) -> tuple[Any, Any]:
    """Return the module of google-re2 and its fastest options: no captures, bytes."""
    module = load("re2", "google-re2")
    options = module.Options()
    options.case_sensitive = match_case
    options.never_capture = True
    options.encoding = module.Options.Encoding.LATIN1
    return module, options


def re2_alternation(literals: Literals, match_case: bool) -> Searcher:
    """Return RE2 with one alternation."""
    module, options = re2_options(match_case)
    source = b"|".join(module.escape(literal) for literal in literals)
    pattern = module.compile(source, options)
    return Searcher(
        lambda text: [match.end() for match in pattern.finditer(text)], lambda ends: ends
    )


def re2_set(literals: Literals, match_case: bool) -> Searcher:
    """Return RE2's Set, which says which literals occur."""
    module, options = re2_options(match_case)
    expressions = module.Set.SearchSet(options)
    for literal in literals:
        expressions.Add(module.escape(literal))
    expressions.Compile()
    return Searcher(expressions.Match, lambda found: frozenset(found or ()))


SEARCHERS: dict[str, Callable[[Literals, bool], Searcher]] = {
    OURS: ours,
    "hyperscan": hyperscan,
    "hyperscan, as regexes": hyperscan_regex,
    "libhs": libhs,
    "libhs, as regexes": libhs_regex,
    "ahocorasick-rs": ahocorasick_rs,
    "ahocorasick-rs, leftmost": ahocorasick_rs_leftmost,
    "pyahocorasick": pyahocorasick,
    "google-re2 alternation": re2_alternation,
    "google-re2 Set": re2_set,
    "re alternation": re_alternation,
}
