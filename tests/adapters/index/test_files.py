"""From the files of a page to releases."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timezone

from pypi_simple import ProjectPage

from harness.adapters.index.files import collect


def page_of(*files: Mapping[str, object]) -> ProjectPage:
    described = [{"filename": f"toykeras-{f['v']}-py3-none-any.whl", "url": "/x", "hashes": {}, **f} for f in files]
    return ProjectPage.from_json_data(
        {"meta": {"api-version": "1.1"}, "name": "toykeras", "files": described}, "http://x/"
    )


def test_a_release_has_the_date_of_its_first_file_whatever_the_zone() -> None:
    files = [{"v": "1.0", "upload-time": t} for t in ("2024-01-03T00:00:00", "2024-01-02T00:00:00Z")]
    (release,) = collect("toykeras", page_of(*files).packages)
    assert release.released == datetime(2024, 1, 2, tzinfo=timezone.utc)


def test_a_release_is_yanked_when_all_its_files_are() -> None:
    half = collect("toykeras", page_of({"v": "1.0", "yanked": "x"}, {"v": "1.0", "yanked": False}).packages)
    whole = collect("toykeras", page_of({"v": "1.0", "yanked": True}, {"v": "1.0", "yanked": ""}).packages)
    assert half[0].yanked is None
    assert whole[0].yanked == "", "true without a reason"
