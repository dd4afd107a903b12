"""The composition root: the real objects fit the protocols, opening makes nothing, and no process outlives the block."""

from __future__ import annotations

from pathlib import Path

import pytest

import harness
from harness.domain.errors import UsageError
from harness.jobs.protocols import Services
from harness.services import RealServices, open_services
from tests.adapters.samples import entry, header
from tests.local_index import LocalIndex


def protocol(services: RealServices) -> Services:
    """The type checker holds that the real objects are what the jobs need."""
    return services


@pytest.mark.usefixtures("isolated")
class TestOpening:
    def test_it_makes_nothing_on_the_disk(self, isolated: Path) -> None:
        """Many a mistake is found after it; none may leave a folder behind."""
        with open_services() as services:
            assert services.version == harness.__version__
            assert services.home.root == isolated
            assert services.platform.split()
        assert not isolated.exists()

    def test_every_part_of_the_protocol_is_there(self) -> None:
        with open_services() as services:
            for name in (name for name in vars(Services) if not name.startswith("_")):
                assert hasattr(protocol(services), name), name

    def test_processes_end_with_the_block_whatever_happened(self) -> None:
        with pytest.raises(ZeroDivisionError), open_services() as services:
            raise ZeroDivisionError
        assert services.processes.ended.is_set(), "no process can be started any more"


def test_a_fresh_page_is_asked_for_again_only_when_that_is_wanted(index: LocalIndex) -> None:
    with open_services() as services:
        first = services.index.page("toykeras")
        assert services.index.page("toykeras") == first
    with open_services(refresh=True) as services:
        assert services.index.page("toykeras").fetched > first.fetched


@pytest.mark.usefixtures("isolated")
def test_cases_causes_and_expectations_are_those_beside_the_cases() -> None:
    with open_services() as services:
        identity = services.cases.read("identity")
        assert services.cases.callable_as(identity) == "identity"
        assert [case.name for case in services.cases.read_all(["identity"])] == ["identity"]
        assert identity.name in {case.name for case in services.cases.read_all()}
        assert all(cause.case == "identity" for cause in services.cases.causes_for(identity))
        assert services.cases.expectations(None).expected


@pytest.mark.usefixtures("isolated")
def test_fixes_are_found_by_name() -> None:
    with open_services() as services:
        assert services.fix("no-aggregation").name == "no-aggregation"
        assert services.mapping_sweep()
        with pytest.raises(UsageError, match="unknown fix"):
            services.fix("no-agregation")
        with pytest.raises(UsageError, match="no such patch file"):
            services.patch(Path("gone.diff"))


@pytest.mark.usefixtures("isolated")
def test_the_pool_takes_as_many_jobs_as_it_was_asked_for() -> None:
    with open_services() as services, services.pool(2) as pool:
        assert list(pool.map(abs, [-1, 2])) == [1, 2]


@pytest.mark.usefixtures("isolated")
def test_reports_are_written_into_the_folder_of_the_run(tmp_path: Path) -> None:
    from harness.domain.findings import assemble

    finding = assemble.compose(header(), [entry("1.0", 0), entry("1.1", 1)])
    with open_services() as services:
        services.reports.finding(finding, tmp_path)
        assert services.reports.artifacts(finding, tmp_path) is not None
    assert {"report.json", "report.md", "report.html", "junit.xml"} <= {path.name for path in tmp_path.iterdir()}
