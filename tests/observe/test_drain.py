"""The drain thread: every byte once and in order, bounded, whatever the readers do."""

from __future__ import annotations

import os
import random
import select
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest
from conftest import PATIENCE, wait_until

from tmux_wait.observe import drain
from tmux_wait.observe.drain import MEMORY, TEXT_KEPT, Reader, Stream, spool_path
from tmux_wait.stream import LineScanner

pytestmark = pytest.mark.usefixtures("spotless")

KIB = 1024
NOISE = random.Random(4).randbytes(1 << 20)


def noise(size: int) -> bytes:
    """Return bytes of which no two places are alike, within a megabyte."""
    return (NOISE * (size // len(NOISE) + 1))[:size]


@contextmanager
def pipe() -> Iterator[tuple[int, int]]:
    """Yield a pipe whose read end does not block; both ends are closed in the end."""
    read, write = os.pipe2(os.O_CLOEXEC) if hasattr(os, "pipe2") else os.pipe()
    os.set_blocking(read, False)
    os.set_blocking(write, False)
    try:
        yield read, write
    finally:
        for fd in (read, write):
            with suppress(OSError):
                os.close(fd)


def push(write: int, data: bytes) -> int:
    """Write as much as the pipe takes now; return how much."""
    done = 0
    with suppress(BlockingIOError):
        while done < len(data):
            done += os.write(write, data[done:])
    return done


def push_all(write: int, data: bytes, stuck: Callable[[], bool] = lambda: False) -> int:
    """Write until all is written or ``stuck`` says that it will not be; return how much was."""
    done = 0

    def over() -> bool:
        nonlocal done
        done += push(write, data[done : done + (1 << 16)])
        return done == len(data) or stuck()

    wait_until(over, "an end of the writing")
    return done


def take_all(reader: Reader, size: int | None = None) -> bytes:
    """Return what a reader takes until the end, or until it has ``size`` bytes."""
    taken = b""
    while size is None or len(taken) < size:
        assert select.select([reader.fd], [], [], PATIENCE)[0], "nothing more comes"
        data, ended = reader.take()
        taken += data
        if ended:
            break
    return taken


def is_readable(reader: Reader) -> bool:
    """Say whether the reader's descriptor says that there is something to take."""
    return bool(select.select([reader.fd], [], [], 0)[0])


def threads() -> int:
    """Return how many threads this process has; those of Python alone where /proc is not there."""
    tasks = Path("/proc/self/task")
    return len(list(tasks.iterdir())) if tasks.exists() else threading.active_count()


@pytest.mark.parametrize("spool", [0, 1, 100 * KIB, MEMORY, MEMORY + 1, 8 << 20])
def test_nothing_is_lost_whatever_fits_where(spool: int) -> None:
    with pipe() as (read, write):
        stream = Stream(read, b"first", spool=spool)
        reader = stream.reader()
        sent = noise(3 << 20)
        writer = threading.Thread(target=lambda: (push_all(write, sent), os.close(write)))
        wait_for_it = random.Random(spool)
        writer.start()
        taken, ended = b"", False
        while not ended:
            assert select.select([reader.fd], [], [], PATIENCE)[0]
            data, ended = reader.take(wait_for_it.choice([1, 100, 5000, 70_000, 300_000]))
            taken += data
        writer.join()
        assert taken == b"first" + sent
        assert reader.take() == (b"", True), "it stays so"
        reader.close()
        stream.close()


@pytest.mark.parametrize("spool", [0, 100 * KIB, 1 << 20])
def test_when_all_is_full_the_writer_waits_and_then_goes_on(spool: int) -> None:
    with pipe() as (read, write):
        stream = Stream(read, spool=spool)
        reader = stream.reader()
        sent = noise(4 << 20)
        done = push_all(write, sent, stuck=lambda: stream.state().full)
        state = stream.state()
        assert state.full
        assert state.head - state.base == MEMORY + spool, "all room was used, and no more"
        assert state.spooled <= spool
        done += push(write, sent[done:])
        rest = threading.Thread(target=push_all, args=(write, sent[done:]))
        rest.start()
        assert take_all(reader, len(sent)) == sent
        rest.join()
        wait_until(lambda: not stream.state().full)
        reader.close()
        stream.close()


def test_the_spool_has_no_name_and_gives_its_space_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "spool"
    folder.mkdir()
    monkeypatch.setenv("TMPDIR", str(folder))
    assert Path(spool_path()).parent == folder
    with pipe() as (read, write):
        stream = Stream(read)
        reader = stream.reader()
        push_all(write, noise(2 << 20))
        wait_until(lambda: stream.state().spooled > 1 << 20)
        assert list(folder.iterdir()) == []
        links = [(fd, _target(fd)) for fd in os.listdir("/proc/self/fd")]  # noqa: PTH208
        spools = [int(fd) for fd, target in links if target.startswith(str(folder))]
        assert len(spools) == 1
        assert os.get_inheritable(spools[0]) is False
        assert os.fstat(spools[0]).st_size > 1 << 20
        take_all(reader, 2 << 20)
        wait_until(lambda: os.fstat(spools[0]).st_size == 0, "an empty spool")
        reader.close()
        stream.close()


def _target(fd: str) -> str:
    try:
        return os.readlink(f"/proc/self/fd/{fd}")  # noqa: PTH115 - it may be "pipe:[1]"
    except OSError:
        return ""


def test_where_no_spool_can_be_made_memory_has_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(drain, "spool_path", lambda: "/nonexistent/folder/spool")
    with pipe() as (read, write):
        stream = Stream(read)
        reader = stream.reader()
        sent = noise(1 << 20)
        done = push_all(write, sent, stuck=lambda: stream.state().full)
        assert stream.state().head == MEMORY
        rest = threading.Thread(target=push_all, args=(write, sent[done:]))
        rest.start()
        assert take_all(reader, len(sent)) == sent
        rest.join()
        reader.close()
        stream.close()


def test_each_reader_has_its_own_place() -> None:
    with pipe() as (read, write):
        stream = Stream(read, b"0123")
        slow, late = stream.reader(), None
        push_all(write, b"456789")
        wait_until(lambda: stream.state().head == 10)
        late = stream.reader()
        assert not is_readable(late), "it begins behind what was read"
        assert late.recall(4) == (6, b"6789")
        assert late.recall(100) == (0, b"0123456789")
        push_all(write, b"ab")
        assert take_all(late, 2) == b"ab"
        assert late.take() == (b"", False)
        assert stream.state().base == 0
        assert take_all(slow, 12) == b"0123456789ab"
        assert stream.state().base == 12
        late.close()
        push_all(write, noise(MEMORY * 2))
        assert take_all(slow, MEMORY * 2) == noise(MEMORY * 2)
        first, recalled = slow.recall(MEMORY)
        assert len(recalled) >= 128 * KIB
        assert recalled == noise(MEMORY * 2)[first - 12 :]
        slow.close()
        stream.close()


def test_what_nobody_reads_any_more_makes_no_heap() -> None:
    with pipe() as (read, write):
        stream = Stream(read, spool=0)
        stream.reader().close()
        push_all(write, noise(1 << 20))
        wait_until(lambda: stream.state().head == 1 << 20)
        assert not stream.state().full
        stream.close()


def test_the_descriptor_says_whether_there_is_something() -> None:
    with pipe() as (read, write):
        stream = Stream(read)
        reader = stream.reader()
        assert not is_readable(reader)
        for word in (b"one", b"two"):
            push_all(write, word)
            assert take_all(reader, 3) == word
            assert reader.take() == (b"", False)
            assert not is_readable(reader)
        os.close(write)
        wait_until(lambda: is_readable(reader), "the end")
        assert reader.take() == (b"", True)
        assert is_readable(reader), "the end stays"
        reader.close()
        stream.close()


def test_a_reader_ends_with_its_stream() -> None:
    with pipe() as (read, _write):
        stream = Stream(read)
        reader = stream.reader()
        stream.close()
        stream.close()
        assert is_readable(reader)
        assert reader.take() == (b"", True)
        assert reader.recall(10)[1] == b""
        reader.close()
        reader.close()


def test_the_thread_goes_with_the_last_stream_and_comes_again() -> None:
    before = threads()
    for _ in range(20):
        with pipe() as (read, write), pipe() as (other, _):
            one, two = Stream(read), Stream(other)
            assert threads() in (before, before + 1)
            two.close()
            reader = one.reader()
            push_all(write, b"x")
            assert take_all(reader, 1) == b"x"
            reader.close()
            one.close()
            assert threads() == before


@pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="needs /proc")
def test_no_signal_goes_to_the_thread() -> None:
    mine = {task.name for task in Path("/proc/self/task").iterdir()}
    with pipe() as (read, _):
        stream = Stream(read)
        (thread,) = {task.name for task in Path("/proc/self/task").iterdir()} - mine
        status = Path(f"/proc/self/task/{thread}/status").read_text()
        blocked = int(status.partition("SigBlk:")[2].split()[0], 16)
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGCHLD, signal.SIGWINCH):
            assert blocked >> (number - 1) & 1
        stream.close()


def test_a_forked_child_has_no_part_in_it() -> None:
    with pipe() as (read, write), pipe() as (answers, answer):
        stream = Stream(read, b"first")
        reader = stream.reader()
        child = os.fork()
        if child == 0:
            heard = reader.take() == (b"", True)
            reader.close()
            stream.close()
            own, feed = os.pipe()
            os.set_blocking(own, False)
            mine = Stream(own)
            place = mine.reader()
            os.write(feed, b"the child's own")
            heard = heard and take_all(place, 15) == b"the child's own"
            place.close()
            mine.close()
            os.write(answer, b"y" if heard else b"n")
            os._exit(0)
        os.waitpid(child, 0)
        assert os.read(answers, 1) == b"y"
        push_all(write, b" and more")
        assert take_all(reader, 14) == b"first and more"
        reader.close()
        stream.close()


def test_many_streams_come_and_go_in_many_threads() -> None:
    failures: list[str] = []

    def use(seed: int) -> None:
        chance = random.Random(seed)
        for _ in range(15):
            with pipe() as (read, write):
                stream = Stream(read, spool=chance.choice([0, 100 * KIB, 1 << 20]))
                reader = stream.reader()
                sent = noise(chance.randrange(1, 600 * KIB))
                writer = threading.Thread(target=push_all, args=(write, sent))
                writer.start()
                if take_all(reader, len(sent)) != sent:
                    failures.append(f"seed {seed}")
                writer.join()
                for closing in chance.sample([reader.close, stream.close], 2):
                    closing()

    users = [threading.Thread(target=use, args=(seed,)) for seed in range(6)]
    for user in users:
        user.start()
    for user in users:
        user.join()
    assert failures == []


LINES = b"".join(b"\x1b[32m%d\x1b[m says nothing of it\r\n" % n for n in range(40_000))
PLAIN = LINES.replace(b"\x1b[32m", b"").replace(b"\x1b[m", b"").replace(b"\r", b"")


def lend_until(reader: Reader, scanner: LineScanner, size: int) -> tuple[int, bytes, list[int]]:
    """Lend a scanner again and again; return bytes scanned, text and the first hits' offsets."""
    heard, text, hits = 0, b"", []
    while heard < size and not hits:
        reader.lend(scanner)
        assert select.select([reader.fd], [], [], PATIENCE)[0], "nothing was scanned"
        scanned = reader.take_back()
        if scanned is not None:
            heard += scanned.size
            text += scanned.text
            hits = [hit.offset for hit in scanned.hits]
    return heard, text, hits


def test_a_scanner_that_is_lent_is_fed_all_and_says_what_it_says_itself() -> None:
    with pipe() as (read, write):
        stream = Stream(read, spool=0)
        reader = stream.reader()
        scanner = LineScanner([b"here it is"])
        writer = threading.Thread(target=push_all, args=(write, LINES))
        writer.start()
        heard, text, hits = lend_until(reader, scanner, len(LINES))
        writer.join()
        assert (heard, hits) == (len(LINES), [])
        assert text == PLAIN or (len(text) >= TEXT_KEPT and PLAIN.endswith(text[-TEXT_KEPT:]))
        assert scanner.visible == visible_in(LINES)
        push_all(write, b"and here it is, twice: here it is" + b" behind it\r\n" * 10)
        _, _, hits = lend_until(reader, scanner, len(LINES))
        alone = LineScanner([b"here it is"])
        alone.feed(LINES)
        assert hits == [hit.offset for hit in alone.feed(b"and here it is, twice: here it is")]
        reader.close()
        stream.close()


def visible_in(data: bytes) -> int:
    """Return how many visible characters a scanner counts."""
    scanner = LineScanner()
    scanner.feed(data)
    return scanner.visible


def test_what_comes_behind_a_hit_is_there_to_be_taken() -> None:
    with pipe() as (read, write):
        stream = Stream(read)
        reader = stream.reader()
        scanner = LineScanner([b"hit"])
        reader.lend(scanner)
        push_all(write, b"one\r\ntwo hit")
        assert select.select([reader.fd], [], [], PATIENCE)[0]
        push_all(write, b"behind it")
        wait_until(lambda: stream.state().head == 21)
        scanned = reader.take_back()
        assert scanned is not None
        assert [hit.end for hit in scanned.hits] == [7]
        assert scanned.text + scanner.text() + scanner.line == b"one\ntwo hit"
        assert take_all(reader, 9) == b"behind it"
        assert not is_readable(reader)
        reader.close()
        stream.close()


def test_the_last_of_much_text_is_kept() -> None:
    with pipe() as (read, write):
        stream = Stream(read)
        reader = stream.reader()
        scanner = LineScanner([b"nowhere"])
        reader.lend(scanner)
        push_all(write, LINES)
        wait_until(lambda: stream.state().base == len(LINES))
        scanned = reader.take_back()
        assert scanned is not None
        assert scanned.size == len(LINES)
        assert scanned.text == PLAIN[-TEXT_KEPT:]
        reader.close()
        stream.close()


def test_a_scanner_is_reported_on_and_at_the_end_too() -> None:
    with pipe() as (read, write):
        stream = Stream(read)
        reader = stream.reader()
        scanner = LineScanner([b"nowhere"])
        reader.lend(scanner)
        assert not is_readable(reader)
        with pytest.raises(RuntimeError):
            scanner.feed(b"it is lent")
        push_all(write, b"a word")
        assert select.select([reader.fd], [], [], PATIENCE)[0]
        scanned = reader.take_back()
        assert scanned is not None
        assert (scanned.size, scanned.text, list(scanned.hits)) == (6, b"", [])
        assert not is_readable(reader)
        assert scanner.line == b"a word"
        reader.lend(scanner)
        assert reader.take_back() is None
        reader.lend(scanner)
        os.close(write)
        assert select.select([reader.fd], [], [], PATIENCE)[0]
        assert reader.take_back() is None
        assert reader.take() == (b"", True)
        reader.close()
        stream.close()


def test_a_reader_that_lags_takes_what_is_spooled_before_it_is_scanned() -> None:
    with pipe() as (read, write):
        stream = Stream(read)
        reader = stream.reader()
        scanner = LineScanner([b"nowhere"])
        push_all(write, LINES)
        wait_until(lambda: stream.state().spooled > 0)
        taken = b""
        while len(taken) < len(LINES):
            reader.lend(scanner)
            assert select.select([reader.fd], [], [], PATIENCE)[0]
            scanned = reader.take_back()
            if scanned is None:
                taken += reader.take(50_000)[0]
            else:
                taken += LINES[len(taken) : len(taken) + scanned.size]
        assert taken == LINES
        reader.close()
        stream.close()


def test_a_stream_may_be_closed_while_a_scanner_is_lent() -> None:
    for size in (0, 1 << 20):
        with pipe() as (read, write):
            stream = Stream(read)
            reader = stream.reader()
            scanner = LineScanner([b"nowhere"])
            reader.lend(scanner)
            push_all(write, LINES[:size])
            stream.close()
            assert is_readable(reader)
            reader.take_back()
            assert reader.take() == (b"", True)
            reader.close()
            scanner.feed(b"it is not lent any more")
