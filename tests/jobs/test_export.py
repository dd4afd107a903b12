"""What a case needs to become one script: the pins of one release."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.domain.errors import UsageError
from harness.domain.releases.companions import Companions, Mode, Wanted
from harness.domain.trials.variant import Variant
from harness.jobs.export import pin_case, pins_of, read_case
from harness.jobs.requests import TrialRequest
from tests.examples import case, release, timeline
from tests.fakes import PYTHON, TWO, FakeServices, Heard

RESOLVED = ("absl-py==2.1.0", "mlxtend==0.23.4", "numpy==2.0.2", "tensorflow-cpu==2.18.1", "wheel==0.45.0")


class ResolvedServices(FakeServices):
    """Resolves more than was asked for, as a real resolver does."""

    lock: tuple[str, ...] = tuple(f"{pin} --hash=sha256:0" for pin in RESOLVED)

    def companions(self, cases, timeline, pins, mode, python) -> Companions:
        wanted = Wanted(
            package="keras",
            requirements=("tensorflow-cpu", *(pins or ("numpy<2.1",))),
            data_packages=("mlxtend",),
        )
        return Companions(wanted=wanted, mode=mode, interpreter=PYTHON, lock=self.lock)


@pytest.fixture
def world(tmp_path: Path) -> ResolvedServices:
    return ResolvedServices(
        tmp_path, [case(parameters={"fault": ("none", "on")})], timeline(["3.9.2", "3.10.0"]).releases
    )


def test_only_what_the_case_asks_for_is_pinned():
    pins = pins_of(release("3.9.2"), ("tensorflow-cpu", "numpy<2.1", "mlxtend"), RESOLVED)
    assert pins == ("keras==3.9.2", "mlxtend==0.23.4", "numpy==2.0.2", "tensorflow==2.18.1")


@pytest.mark.parametrize(
    ("name", "pin"),
    [("tf-nightly-cpu", "tf-nightly-cpu==1"), ("tf-keras", "tf-keras==1"), ("tensorflow", "tensorflow==1")],
)
def test_only_the_name_of_the_stable_framework_is_made_common(name, pin):
    assert pins_of(release("3.9.2"), (name,), (f"{name}==1",)) == ("keras==3.9.2", pin)


class TestReadCase:
    def test_it_is_read_before_anything_is_resolved(self, world: FakeServices):
        world.index.published.clear()
        request = TrialRequest(case="identity", release="3.9.2", replicas=4, settings=("fault=on",))
        found = read_case(world, request)
        assert (found.release, found.pins, found.case.replicas) == ("3.9.2", (), 4)
        assert found.variant == Variant(replicas=4, strategy="mirrored", options=(("fault", "on"),))

    @pytest.mark.parametrize("changes", [{"case": "unknown"}, {"settings": ("fault=off",)}])
    def test_what_cannot_be_exported_is_refused(self, world: FakeServices, changes):
        with pytest.raises(UsageError):
            read_case(world, TrialRequest(**{"case": "identity", **changes}))


class TestPinCase:
    def test_the_release_comes_first_and_then_what_was_asked_for(self, world: FakeServices):
        found = pin_case(world, TrialRequest(case="identity", release="3.9.2"), Heard())
        assert found.pins == ("keras==3.9.2", "mlxtend==0.23.4", "numpy==2.0.2", "tensorflow==2.18.1")
        assert (found.release, found.variant) == ("3.9.2", TWO)

    def test_latest_becomes_the_version_that_it_meant(self, world: FakeServices):
        found = pin_case(world, TrialRequest(case="identity"), Heard())
        assert (found.release, found.pins[0]) == ("3.10.0", "keras==3.10.0")

    def test_without_a_lock_the_requirements_are_taken_as_they_are(self, world: ResolvedServices):
        """Companions as of a day are resolved in each environment anew."""
        world.lock = ()
        found = pin_case(world, TrialRequest(case="identity", mode=Mode.AS_OF, pins=("numpy==2.0.2",)), Heard())
        assert found.pins == ("keras==3.10.0", "tensorflow", "numpy==2.0.2")

    def test_a_release_that_is_not_published_is_refused_by_its_option(self, world: FakeServices):
        with pytest.raises(UsageError, match=r"3\.4\.9") as refused:
            pin_case(world, TrialRequest(case="identity", release="3.4.9"), Heard())
        assert refused.value.where == "--release"
