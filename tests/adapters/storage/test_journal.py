"""What was recorded is there after any accident, and nobody else's journal can do harm."""

from __future__ import annotations

import contextlib
import errno
import json
import math
import os
import shutil
import sys
import threading
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness import codec
from harness.adapters.processes.process import Processes
from harness.adapters.storage import journal
from harness.adapters.storage.checksums import unmarked
from harness.adapters.storage.journal import FileJournal, read
from harness.domain.errors import InfrastructureError, Interrupted, UsageError
from harness.domain.findings.run import RunHeader
from harness.domain.trials.entry import Entry
from tests.adapters.samples import entry, header


@pytest.fixture
def run(tmp_path: Path) -> Path:
    """A run of three entries."""
    with FileJournal.begin(tmp_path, header()) as made:
        for repeat in range(3):
            made.record(entry(repeat=repeat))
    return tmp_path


def repeats(folder: Path) -> list[int]:
    return [e.finished.trial.repeat for e in read(folder)[1] if e.finished]


def test_everything_comes_back(run: Path) -> None:
    found, entries = read(run)
    assert found == header()
    assert [e.release for e in entries] == ["1.0"] * 3
    finished = entries[0].finished
    assert finished is not None
    assert math.isnan(finished.observation.final["loss"])


def test_each_entry_is_on_the_disk_before_record_returns(tmp_path: Path) -> None:
    with FileJournal.begin(tmp_path, header()) as made:
        for repeat in range(3):
            made.record(entry(repeat=repeat))
            assert repeats(tmp_path) == list(range(repeat + 1))


def test_a_torn_last_line_is_dropped_and_cut_off(run: Path) -> None:
    path = run / journal.NAME
    whole = path.read_bytes()
    last = whole.rstrip(b"\n").rfind(b"\n") + 1
    for cut in (1, (len(whole) - last) // 2, len(whole) - last - 1):
        path.write_bytes(whole[:-cut])
        assert repeats(run) == [0, 1]
    with FileJournal.resume(run, None) as again:
        again.record(entry(repeat=9))
    assert repeats(run) == [0, 1, 9]


def test_a_cut_anywhere_loses_at_most_the_line_it_is_in(run: Path) -> None:
    path = run / journal.NAME
    whole = path.read_bytes()
    first = whole.index(b"\n") + 1
    for cut in range(first, len(whole), 97):
        path.write_bytes(whole[:cut])
        assert repeats(run) == list(range(whole[first:cut].count(b"\n")))


@pytest.mark.parametrize("line", [0, 1, 3])
def test_a_bit_that_turned_over_is_damage_and_no_verdict(run: Path, line: int) -> None:
    """An exit code of 0 that became 1 made a good release bad; a number of a repeat that changed, a search endless."""
    path = run / journal.NAME
    lines = path.read_bytes().splitlines(keepends=True)
    for place in range(0, len(lines[line]) - 1, 5):
        damaged = bytearray(lines[line])
        damaged[place] ^= 1
        path.write_bytes(b"".join([*lines[:line], bytes(damaged), *lines[line + 1 :]]))
        try:
            found, entries = read(run)
        except UsageError as refused:
            assert "damaged" in refused.what or "newer" in refused.what or "checksum" in refused.what
        else:
            assert (found, len(entries)) == (header(), 3), "the name of the checksum was hit, and nothing else"


def test_what_entries_have_in_common_is_there_once_and_is_the_same(run: Path) -> None:
    found, other = (one for one in read(run)[1][:2])
    assert found.finished is not None
    assert other.finished is not None
    assert found.environment is other.environment
    assert found.release is other.release
    assert found.finished.trial.variant is other.finished.trial.variant
    assert found.finished.observation.ending is other.finished.observation.ending
    lines = (run / journal.NAME).read_bytes().splitlines()
    assert codec.dumps(Entry, found).encode() == unmarked(lines[1])


def test_a_journal_without_checksums_is_read(run: Path) -> None:
    path = run / journal.NAME
    path.write_bytes(b"".join(unmarked(line) + b"\n" for line in path.read_bytes().splitlines()))
    assert b'"check"' not in path.read_bytes()
    with FileJournal.resume(run, None) as again:
        again.record(entry(repeat=3))
    assert repeats(run) == [0, 1, 2, 3]


def test_a_kill_before_the_header_is_whole_leaves_a_folder_that_can_be_used(run: Path) -> None:
    (run / journal.NAME).write_bytes((run / journal.NAME).read_bytes()[:40])
    with pytest.raises(UsageError, match="ended before it began") as failure:
        FileJournal.resume(run, None)
    assert "without --resume" in str(failure.value)
    with FileJournal.begin(run, header()) as again:
        again.record(entry())
    assert repeats(run) == [0]


def test_damage_before_the_last_line_is_said(run: Path) -> None:
    path = run / journal.NAME
    lines = path.read_bytes().split(b"\n")
    lines[2] = lines[2][:-10]
    path.write_bytes(b"\n".join(lines))
    with pytest.raises(UsageError, match="damaged") as failure:
        read(run)
    assert failure.value.hint


def test_begin_refuses_a_folder_that_holds_a_run(run: Path) -> None:
    with pytest.raises(UsageError, match="already has a run in it"):
        FileJournal.begin(run, header())


@pytest.mark.parametrize("folder", ["nosuch", "empty"])
def test_resume_of_nothing_makes_nothing(tmp_path: Path, folder: str) -> None:
    (tmp_path / "empty").mkdir()
    with pytest.raises(UsageError, match="no run to read"):
        FileJournal.resume(tmp_path / folder, None)
    assert list((tmp_path / "empty").iterdir()) == []
    assert not (tmp_path / "nosuch").exists()


def test_resume_refuses_a_changed_question_and_names_every_change(run: Path) -> None:
    asked = header(case_digest="other", companions=("numpy==2.0",)).question
    with pytest.raises(UsageError) as failure:
        FileJournal.resume(run, asked)
    assert "case_digest" in str(failure.value)
    assert "numpy==2.0" in str(failure.value)
    with FileJournal.resume(run, header().question):
        pass


def test_one_run_has_one_writer(run: Path) -> None:
    with FileJournal.resume(run, None), pytest.raises(UsageError, match="another harness is writing"):
        FileJournal.resume(run, None)
    with FileJournal.resume(run, None):
        pass


def test_a_resume_does_not_cut_what_a_live_writer_has_half_written(run: Path) -> None:
    with FileJournal.resume(run, None):
        with (run / journal.NAME).open("ab") as half:
            half.write(b'{"release"')
        with pytest.raises(UsageError):
            FileJournal.resume(run, None)
        assert (run / journal.NAME).read_bytes().endswith(b'{"release"')


class Full:
    """A disk that takes a few bytes more."""

    def __init__(self, room: int) -> None:
        self.room = room

    def write(self, real: object, data: bytes) -> int:
        if self.room <= 0:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        taken = min(self.room, len(data))
        self.room -= taken
        return int(real.write(data[:taken]))  # type: ignore[attr-defined]


@pytest.mark.skipif(sys.platform != "linux", reason="/dev/full is Linux's")
def test_a_full_disk_is_said_in_one_message(tmp_path: Path) -> None:
    with FileJournal.begin(tmp_path, header()) as made:
        made._path = Path("/dev/full")
        made._written = journal._identity(made._path)
        with pytest.raises(InfrastructureError, match="disk is full"):
            made.record(entry())
        assert len(made.entries()) == 0


def test_a_disk_that_fills_up_half_way_leaves_whole_lines_only(run: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The next entry, shorter, may fit again; a torn line before it would cost the whole run."""
    with FileJournal.resume(run, None) as again:
        full = Full(room=100)
        real_open = Path.open

        def small(path: Path, *arguments: object, **options: object) -> object:
            file = real_open(path, *arguments, **options)  # type: ignore[call-overload]
            return _Limited(file, full) if path.name == journal.NAME else file

        with monkeypatch.context() as patched:
            patched.setattr(Path, "open", small)
            with pytest.raises(InfrastructureError, match="disk is full"):
                again.record(entry(repeat=7))
        again.record(entry(repeat=8))
    assert repeats(run) == [0, 1, 2, 8]


class _Limited:
    def __init__(self, file: object, full: Full) -> None:
        self._file, self._full = file, full

    def __enter__(self) -> _Limited:
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()  # type: ignore[attr-defined]

    def write(self, data: bytes) -> int:
        return self._full.write(self._file, data)

    def __getattr__(self, name: str) -> object:
        return getattr(self._file, name)


def test_a_writer_killed_in_the_middle_loses_nothing_it_confirmed(tmp_path: Path, processes: Processes) -> None:
    """The child prints the number of each entry that `record` returned from, until it is killed."""
    program = (
        "from pathlib import Path; from itertools import count; from tests.adapters.samples import entry, header\n"
        "from harness.adapters.storage.journal import FileJournal\n"
        f"made = FileJournal.begin(Path({str(tmp_path)!r}), header())\n"
        "for n in count():\n"
        "    made.record(entry(repeat=n)); print(n, flush=True)\n"
    )
    root, log = Path(__file__).parents[3], tmp_path / "log"
    log.touch()

    def kill() -> None:
        while log.read_text().count("\n") < 20:
            threading.Event().wait(0.01)
        processes.end_all()

    killer = threading.Thread(target=kill)
    killer.start()
    env = {**os.environ, "PYTHONPATH": str(root)}
    with pytest.raises(Interrupted):
        processes.run([sys.executable, "-c", program], log=log, env=env, cwd=root, deadline_seconds=100.0)
    killer.join()
    confirmed = [int(line) for line in log.read_text().split("\n")[:-1]]
    assert len(confirmed) >= 20
    assert repeats(tmp_path)[: len(confirmed)] == confirmed


@pytest.mark.parametrize("key", ["../../../etc/cron.d/x", "/tmp/x", "a/b", "..", "", "x" * 300, "a\nb"])
def test_a_key_that_leads_out_of_the_folder_is_refused(run: Path, key: str) -> None:
    """Reports write one lock file per key: a stranger's journal must not choose where."""
    with (run / journal.NAME).open("a") as file:
        file.write(codec.dumps(Entry, entry(key=key)) + "\n")
    with pytest.raises(UsageError, match="is not a key"):
        read(run)


def test_a_journal_without_end_is_not_read(run: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(journal, "LARGEST_JOURNAL", 10)
    with pytest.raises(UsageError, match="too large"):
        read(run)


HEADER = codec.dumps(RunHeader, header()).encode()
ENTRY = codec.dumps(Entry, entry()).encode()
json_values = st.recursive(
    st.none() | st.booleans() | st.floats() | st.text() | st.integers(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=8,
)


@st.composite
def spoiled(draw: st.DrawFn) -> bytes:
    """A journal with bytes changed, lines lost, or values of one entry replaced by any other."""
    lines = [HEADER, ENTRY, ENTRY]
    match draw(st.sampled_from(["bytes", "value", "lines"])):
        case "bytes":
            whole = bytearray(b"\n".join(lines) + b"\n")
            for _ in range(draw(st.integers(1, 5))):
                whole[draw(st.integers(0, len(whole) - 1))] = draw(st.integers(0, 255))
            return bytes(whole)
        case "value":
            which = draw(st.sampled_from([0, 1]))
            spoiled_line = json.loads(lines[which])
            place = draw(st.sampled_from(sorted(spoiled_line)))
            spoiled_line[place] = draw(json_values)
            lines[which] = json.dumps(spoiled_line).encode()
        case _:
            lines = draw(st.lists(st.sampled_from([*lines, b"", b"{}", b"null", b"[" * 100_000]), max_size=6))
    return b"\n".join(lines) + b"\n"


@given(content=st.binary(max_size=300) | spoiled())
def test_any_bytes_are_read_or_refused_with_advice(tmp_path_factory: pytest.TempPathFactory, content: bytes) -> None:
    folder = tmp_path_factory.mktemp("run")
    (folder / journal.NAME).write_bytes(content)
    try:
        found, entries = read(folder)
    except UsageError as refused:
        assert refused.hint
        assert refused.where
    else:
        assert isinstance(found, RunHeader)
        assert all(isinstance(e, Entry) for e in entries)


def _removed(path: Path) -> None:
    path.unlink()


def _moved(path: Path) -> None:
    path.rename(path.with_name("elsewhere"))


def _replaced(path: Path) -> None:
    path.unlink()
    path.write_text("other\n")


def _cut(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:100])


def _emptied(path: Path) -> None:
    path.write_bytes(b"")


DAMAGE = [_removed, _moved, _replaced, _cut, _emptied]


@pytest.mark.parametrize("damage", DAMAGE)
@pytest.mark.parametrize("last", [False, True])
def test_a_journal_that_is_damaged_during_the_run_is_written_again_and_said(
    tmp_path: Path, damage: Callable[[Path], None], last: bool
) -> None:
    with FileJournal.begin(tmp_path, header()) as made:
        made.record(entry(repeat=0))
        assert made.restored() == ""
        damage(tmp_path / journal.NAME)
        if not last:
            made.record(entry(repeat=1))
        assert "during the run; it was written again" in made.restored()
        assert read(tmp_path)[0] == header()
        made.record(entry(repeat=2))
    assert repeats(tmp_path) == ([0, 2] if last else [0, 1, 2])


def test_one_that_is_removed_before_an_interruption_is_there_afterwards(tmp_path: Path) -> None:
    with contextlib.suppress(Interrupted), FileJournal.begin(tmp_path, header()) as made:
        made.record(entry(repeat=0))
        _removed(tmp_path / journal.NAME)
        raise Interrupted
    assert repeats(tmp_path) == [0]


def test_a_journal_replaced_by_a_folder_is_a_clear_message(tmp_path: Path) -> None:
    with FileJournal.begin(tmp_path, header()) as made:
        (tmp_path / journal.NAME).unlink()
        (tmp_path / journal.NAME).mkdir()
        with pytest.raises(InfrastructureError, match="cannot write"):
            made.record(entry(repeat=0))
    with pytest.raises(UsageError, match="there is no run to read"):
        read(tmp_path)


def test_a_folder_that_is_removed_during_the_run(tmp_path: Path) -> None:
    (tmp_path / "run").mkdir()
    with FileJournal.begin(tmp_path / "run", header()) as made:
        shutil.rmtree(tmp_path / "run")
        with pytest.raises(InfrastructureError, match="cannot write"):
            made.record(entry(repeat=0))
