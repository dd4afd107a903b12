"""Options that several commands share."""

from __future__ import annotations

import io
import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.cli import options
from harness.domain.errors import UsageError
from harness.domain.releases.index_page import IndexPage
from harness.domain.releases.release import Order
from tests.examples import case
from tests.offline import PUBLISHED


def page(package: str = "keras", **changes) -> IndexPage:
    return IndexPage(**{"package": package, "fetched": time.time(), "releases": PUBLISHED, **changes})


class TestSize:
    @pytest.mark.parametrize(
        ("text", "size"),
        [(None, None), ("1", 1), ("512", 512), ("4k", 4096), ("512M", 512 << 20), ("4G", 4 << 30), ("4g", 4 << 30)],
    )
    def test_it_is_read_as_bytes(self, text, size):
        assert options.size(text) == size

    @given(st.text(max_size=6))
    def test_anything_else_is_refused_in_the_same_words(self, text):
        """No text ends in another error, and no size is nothing or less."""
        try:
            size = options.size(text)
        except UsageError as error:
            assert error.what == f"{text!r} is not a size"
            assert error.where == "--memory"
        else:
            assert size is not None
            assert size > 0


class TestPins:
    @pytest.mark.parametrize("pin", ["numpy==2.0.2", "numpy<2.1", "keras @ git+https://example.org/keras@main"])
    def test_what_pins_a_version_passes(self, pin):
        assert options.check_pins([pin]) == (pin,)

    @pytest.mark.parametrize("pin", ["numpy", "numpy=2", "", "numpy ; python_version > '3'", "-r other.txt"])
    def test_what_does_not_is_refused(self, pin):
        with pytest.raises(UsageError, match="pins nothing"):
            options.check_pins(["numpy==2.0.2", pin])


class TestTimeline:
    def test_the_case_says_where_to_begin(self):
        made = options.timeline_of(page(), case(since="3.6.0"), None, "latest", "version")
        assert made.versions == ("3.6.0", "3.7.0", "3.9.9", "3.10.0")

    def test_the_user_says_it_louder(self):
        assert options.timeline_of(page(), case(since="3.6.0"), "3.7.0", "3.9.9", "version").ends == ("3.7.0", "3.9.9")

    def test_the_since_of_another_package_does_not_count(self):
        """A case about keras says nothing of where keras-nightly should begin."""
        with pytest.raises(UsageError, match="where should the search begin"):
            options.timeline_of(page("keras-nightly"), case(since="3.6.0"), None, "latest", "version")

    def test_without_a_case_it_begins_with_the_oldest(self):
        assert options.timeline_of(page(), None, None, "latest", "date").versions[0] == "3.5.0"

    def test_the_order_is_passed_on(self):
        made = options.timeline_of(page(), None, None, "latest", "date")
        assert made.order is Order.DATE
        assert made.versions[-1] == "3.9.9"


class TestPlaces:
    def test_a_folder_that_is_taken_gets_a_number(self, tmp_path: Path):
        assert options.unused(tmp_path / "run") == tmp_path / "run"
        (tmp_path / "run").mkdir()
        (tmp_path / "run-2").mkdir()
        assert options.unused(tmp_path / "run") == tmp_path / "run-3"

    def test_a_run_is_found_by_its_path_and_by_its_id(self, tmp_path: Path, monkeypatch):
        monkeypatch.chdir(tmp_path)
        Path("reports/run").mkdir(parents=True)
        assert options.run_folder(Path("run")) == Path("reports/run")
        assert options.run_folder(Path("reports/run")) == Path("reports/run")
        assert options.run_folder(Path("gone")) == Path("gone")

    def test_a_folder_of_that_name_goes_before_an_id(self, tmp_path: Path, monkeypatch):
        monkeypatch.chdir(tmp_path)
        Path("reports/run").mkdir(parents=True)
        Path("run").mkdir()
        assert options.run_folder(Path("run")) == Path("run")


@pytest.mark.parametrize(("cores", "jobs"), [(None, 1), (1, 1), (2, 2), (64, 4)])
def test_jobs_follow_the_cores_up_to_four(cores, jobs, monkeypatch):
    monkeypatch.setattr("os.cpu_count", lambda: cores)
    assert options.default_jobs() == jobs


def test_a_stale_page_is_told_of_on_stderr(capsys):
    options.echo_stale(page())
    options.echo_stale(page(stale_reason="the index does not answer"))
    said = capsys.readouterr()
    assert (said.out, said.err) == ("", "harness: warning: the index does not answer\n")


def test_a_table_that_goes_to_a_file_is_wide(monkeypatch):
    monkeypatch.setattr("sys.stdout", io.StringIO())
    assert options.console().width >= options.WIDE
