"""What every job does before it runs a trial: the case, the releases, the companions, the question, the folder."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from harness.adapters.environments.companions import wanted
from harness.domain.cases.case import Case, Level
from harness.domain.cases.shapes.runners import Runner
from harness.domain.cases.symptoms import Symptom
from harness.domain.errors import UsageError
from harness.domain.findings.causes import KnownCause
from harness.domain.findings.question import Question
from harness.domain.findings.transition import Kind
from harness.domain.releases.companions import Companions, Interpreter, Mode
from harness.domain.releases.index_page import IndexPage
from harness.domain.releases.release import Channel, Order, Release, Timeline, stable_timeline
from harness.domain.search.policy import Policy
from harness.domain.trials.entry import Entry
from harness.domain.trials.observation import CONTRACT
from harness.domain.trials.variant import REFERENCE, Variant
from harness.jobs.events import EventKind
from harness.jobs.preparation import (
    Plan,
    Stopwatch,
    as_package,
    check_place,
    companions_for,
    find_release,
    open_run,
    page_of,
    same_companions,
    say_assumed,
    shared_environment,
    timeline_of,
    under_test,
    variant_of,
    warn,
    with_arguments,
    with_changes,
    with_reference,
)
from harness.jobs.requests import EnvironmentRequest, RangeRequest, RunRequest
from harness.services import CaseLibrary
from tests.examples import case, timeline
from tests.fakes import TWO, FakeServices, Heard, header
from tests.nights import builds
from tests.offline import PUBLISHED

SCRIPT = case(level=Level.SCRIPT)


def page(package: str = "keras", **changes: object) -> IndexPage:
    given: dict[str, object] = {"package": package, "fetched": 0.0, "releases": PUBLISHED}
    return IndexPage(**{**given, **changes})  # type: ignore[arg-type]


@pytest.fixture
def world(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> FakeServices:
    """Keras on the index, one case in memory."""
    monkeypatch.chdir(tmp_path)
    return FakeServices(tmp_path, [case()], PUBLISHED)


@pytest.fixture
def on_disk(world: FakeServices, tmp_path: Path) -> tuple[FakeServices, Case]:
    """A world that reads case files, and one of them."""
    path = tmp_path / "some.py"
    path.write_text(
        '# /// script\n# dependencies = ["keras", "tensorflow", "numpy"]\n# [tool.harness]\n# replicas = 4\n# ///\n'
        "def model(): ...\ndef data(): ...\n"
    )
    world.cases = CaseLibrary()
    return world, world.cases.read(str(path))


class TestCase:
    def test_the_distribution_under_test_decides_what_is_a_companion(self, on_disk: tuple[FakeServices, Case]):
        services, own = on_disk
        nightly = under_test(services, own, Channel.NIGHTLY)
        assert (nightly.package, nightly.import_name, nightly.replicas) == ("keras-nightly", "keras", 4)
        assert under_test(services, own, Channel.STABLE) is own
        assert under_test(services, nightly, Channel.NIGHTLY) is nightly
        tensorflow = as_package(services, own, "tf-nightly")
        assert tensorflow.companions == ("keras", "tensorflow", "numpy")

    def test_commits_are_those_of_the_stable_package(self, on_disk: tuple[FakeServices, Case]):
        services, own = on_disk
        nightly = under_test(services, own, Channel.NIGHTLY)
        assert under_test(services, nightly, Channel.COMMIT).package == "keras"
        assert under_test(services, own, Channel.COMMIT) is own

    def test_what_the_request_changed_stays_changed(self, on_disk: tuple[FakeServices, Case]):
        services, own = on_disk
        changed = with_changes(own, replicas=3, strategy="tpu", repeats=7)
        nightly = as_package(services, changed, "keras-nightly")
        assert (nightly.replicas, nightly.strategy, nightly.repeats) == (3, "tpu", 7)

    def test_nothing_asked_for_changes_nothing(self):
        assert with_changes(SCRIPT) == SCRIPT
        assert with_changes(case(), replicas=4) == case(replicas=4)


class TestVariant:
    @pytest.mark.parametrize(
        ("about", "variant"),
        [
            (case(), Variant(replicas=2, strategy="mirrored")),
            (case(replicas=4, strategy="tpu"), Variant(replicas=4, strategy="tpu")),
            (case(replicas=1), Variant()),
        ],
    )
    def test_the_trial_that_is_judged_is_the_case_s_own(self, about, variant):
        assert variant_of(about) == variant

    def test_settings_belong_to_the_trial(self):
        assert variant_of(case(), [("fault", "on")]).options == (("fault", "on"),)

    def test_a_model_needs_its_reference_and_a_script_does_not(self):
        assert with_reference(case(), TWO) == (REFERENCE, TWO)
        assert with_reference(SCRIPT, TWO) == (TWO,)

    def test_the_reference_of_itself_is_run_once(self):
        assert with_reference(case(), REFERENCE) == (REFERENCE,)

    def test_the_reference_keeps_the_settings_and_drops_the_fix(self):
        patched = Variant(replicas=2, strategy="mirrored", fix="metrics-on-read", options=(("fault", "on"),))
        assert with_reference(case(), patched) == (Variant(options=(("fault", "on"),)), patched)


class TestTimeline:
    def test_the_case_says_where_to_begin(self):
        made = timeline_of(page(), case(since="3.6.0"), RangeRequest())
        assert made.versions == ("3.6.0", "3.7.0", "3.9.9", "3.10.0")

    def test_the_user_s_word_goes_first(self):
        made = timeline_of(page(), case(since="3.6.0"), RangeRequest(first="3.7.0", last="3.9.9"))
        assert made.ends == ("3.7.0", "3.9.9")

    def test_the_since_of_another_package_does_not_count(self):
        """A case about keras says nothing of where keras-nightly should begin."""
        with pytest.raises(UsageError, match="where should the search begin") as refused:
            timeline_of(page("keras-nightly"), case(since="3.6.0"), RangeRequest())
        assert refused.value.hint == "give a day: --from 2024-11-18"

    def test_a_case_that_does_not_say_has_to_be_told(self):
        with pytest.raises(UsageError, match="where should the search begin") as refused:
            timeline_of(page(), case(), RangeRequest())
        hint = (
            "give --from such as --from 3.5.0: a version in which it still worked, or a 'since' in the case's metadata"
        )
        assert refused.value.hint == hint

    def test_without_a_case_it_begins_with_the_oldest(self):
        assert timeline_of(page(), None, RangeRequest(order=Order.DATE)).versions[0] == "3.5.0"

    def test_the_order_is_passed_on(self):
        made = timeline_of(page(), None, RangeRequest(order=Order.DATE))
        assert made.order is Order.DATE
        assert made.versions[-1] == "3.9.9"

    def test_nightlies_are_asked_for_by_day(self):
        nights = page("keras-nightly", releases=tuple(builds(6)))
        made = timeline_of(nights, case(), RangeRequest(first="2024-11-02", last="2024-11-04"))
        assert made.ends == ("3.7.0.dev2024110203", "3.7.0.dev2024110403")
        assert timeline_of(nights, None, RangeRequest()).versions == tuple(b.version for b in builds(6))


class TestIndex:
    def test_a_stale_page_is_warned_of_and_a_fresh_one_not(self, world: FakeServices):
        heard = Heard()
        assert page_of(world, "keras", heard).releases == PUBLISHED
        assert heard.events == []
        world.index.stale_reason = "the index does not answer"
        page_of(world, "keras", heard)
        assert [(e.kind, e.detail) for e in heard.events] == [(EventKind.WARNING, "the index does not answer")]

    def test_nothing_to_warn_of_is_no_warning(self):
        heard = Heard()
        warn(heard, "")
        assert heard.events == []

    def test_one_release_is_found_by_version_or_as_the_latest(self, world: FakeServices):
        assert find_release(world, "keras", "3.7.0", Heard(), where="--release").version == "3.7.0"
        assert find_release(world, "keras", "latest", Heard(), where="--release").version == "3.10.0"

    def test_one_that_is_not_there_is_refused_by_the_option_that_named_it(self, world: FakeServices):
        with pytest.raises(UsageError, match=r"keras 3\.8\.1 is not on the index") as refused:
            find_release(world, "keras", "3.8.1", Heard(), where="--fixed-in")
        assert refused.value.where == "--fixed-in"


class TestCompanions:
    def test_they_are_chosen_as_the_request_says_and_their_boundary_is_warned_of(self, world: FakeServices):
        world.boundary = "tensorflow 2.16 fits up to 3.7.0"
        heard = Heard()
        request = EnvironmentRequest(pins=("numpy==2.0.2",), mode=Mode.AS_OF, python="3.11")
        made = companions_for(world, [case()], timeline(["3.5.0"]), request, heard)
        assert world.chosen == [made]
        assert (made.mode, made.interpreter.minor) == (Mode.AS_OF, "3.11")
        assert "numpy==2.0.2" in made.pinned
        assert [e.detail for e in heard.events] == ["tensorflow 2.16 fits up to 3.7.0"]

    def test_another_environment_takes_the_same_of_what_was_asked_for_by_name(self):
        pinned = ("absl-py==2.1.0", "numpy==2.0.2", "tensorflow-cpu==2.18.1")
        assert same_companions(["tensorflow", "numpy<2.1"], pinned) == ("numpy==2.0.2", "tensorflow-cpu==2.18.1")

    def test_what_was_not_asked_for_is_resolved_anew(self):
        assert same_companions([], ("absl-py==2.1.0",)) == ()

    def test_what_a_run_s_environments_share_is_told(self, world: FakeServices):
        made = companions_for(world, [case()], timeline(["3.5.0"]), EnvironmentRequest(), Heard())
        shared = shared_environment(world, made)
        assert (shared.harness, shared.platform, shared.python) == (world.version, world.platform, "3.11.7")
        assert (shared.mode, shared.companions, shared.lock) == ("fixed", made.pinned, made.shared)


COMPANIONS = Companions(
    wanted=wanted("keras", ["numpy"], (), ()),
    mode=Mode.FIXED,
    interpreter=Interpreter(version="3.11.7", path="/python"),
    lock=("numpy==2.0.2 --hash=sha256:0",),
)


def plan(about: Case | None = None, order: Order = Order.VERSION, mode: Mode = Mode.FIXED, **changes: object) -> Plan:
    companions = Companions(
        wanted=COMPANIONS.wanted, mode=mode, interpreter=COMPANIONS.interpreter, lock=COMPANIONS.lock
    )
    given: dict[str, object] = {
        "case": about or case(),
        "timeline": stable_timeline(PUBLISHED, first=None, last="latest", order=order),
        "companions": companions,
        "policy": Policy(),
    }
    return Plan(**{**given, **changes})  # type: ignore[arg-type]


def question(**changes: object) -> Question:
    return plan(**changes).question  # type: ignore[arg-type]


class TestQuestion:
    def test_by_date_the_range_is_still_the_one_that_was_asked_for(self):
        """3.9.9 is the newest file, 3.10.0 the highest version: --to 3.9.9 would lose a release."""
        asked = question(order=Order.DATE)
        assert (asked.first, asked.last) == ("3.5.0", "3.10.0")
        assert asked.releases[-1] == "3.9.9"

    def test_one_replica_needs_no_strategy(self):
        assert question(about=case(replicas=1)).strategy == "none"
        assert question(about=case(replicas=2)).strategy == "mirrored"

    @pytest.mark.parametrize(
        ("changed", "field"),
        [
            ({"about": case(text="other")}, "case_digest"),
            ({"policy": Policy(symptoms=(Symptom.EXCEPTION,))}, "symptoms"),
            ({"about": case(replicas=4)}, "replicas"),
            ({"mode": Mode.AS_OF}, "mode"),
            ({"order": Order.DATE}, "releases"),
            ({"settings": (("fault", "on"),)}, "options"),
            ({"fixes": ("f@d1",)}, "fixes"),
            ({"replicas": 8}, "replicas"),
            ({"ends": ("3.5.0", "3.7.0")}, "last"),
        ],
    )
    def test_a_question_that_changed_says_in_what(self, changed, field):
        """A resumed run must ask the same; the refusal names the field with both values."""
        differences = question().differences(question(**changed))
        assert [d.partition(":")[0] for d in differences if d.startswith(field)] == [field]
        assert all(" -> " in difference for difference in differences)
        assert question().differences(question()) == []

    def test_it_says_the_companions_as_pinned_and_else_as_wanted(self):
        assert question().companions == ("numpy==2.0.2",)
        as_of = Companions(wanted=COMPANIONS.wanted, mode=Mode.AS_OF, interpreter=COMPANIONS.interpreter)
        assert question(companions=as_of).companions == ("numpy",)

    def test_it_carries_the_contract_of_the_probe(self):
        assert question().contract == CONTRACT

    def test_what_cannot_change_the_answer_is_no_part_of_it(self):
        assert question(index_seconds=3.0) == question()


class TestHeader:
    def test_it_is_all_that_a_fresh_process_needs(self, world: FakeServices):
        made = plan(index_seconds=1.5)
        begun = made.header(world, "harness bisect identity")
        assert (begun.question, begun.case, begun.timeline) == (made.question, made.case, made.timeline)
        assert (begun.policy, begun.reproduce, begun.index_seconds) == (made.policy, "harness bisect identity", 1.5)
        assert begun.setting == shared_environment(world, made.companions)
        assert begun.causes == ()

    def test_known_causes_of_the_case_go_with_it(self, world: FakeServices):
        def known(name: str) -> KnownCause:
            return KnownCause(
                case=name, symptom=Symptom.KILLED, kind=Kind.REGRESSION, link="https://example.org", title=""
            )

        world.shelf.causes = (known("identity"), known("other"))
        assert plan().header(world, "harness").causes == (known("identity"),)


class TestFolder:
    HEADER = header(case(name="identity"), Timeline(releases=(Release(package="keras", version="3.5.0"),)))

    @pytest.mark.parametrize(
        ("kind", "name"),
        [("", r"identity-\d{8}-\d{6}"), ("verify", r"verify-identity-\d{8}-\d{6}")],
    )
    def test_a_new_folder_is_called_after_the_kind_the_case_and_the_moment(
        self, world: FakeServices, kind: str, name: str
    ):
        with open_run(world, self.HEADER, RunRequest(), kind) as journal:
            assert journal.folder.parent == Path("reports")
            assert re.fullmatch(name, journal.folder.name)

    def test_two_runs_of_one_moment_have_two_folders(self, world: FakeServices):
        folders = []
        for _ in range(3):
            with open_run(world, self.HEADER, RunRequest()) as journal:
                folders.append(journal.folder)
        assert len(set(folders)) == 3

    def test_the_folder_that_was_asked_for_is_taken(self, world: FakeServices, tmp_path: Path):
        with open_run(world, self.HEADER, RunRequest(output=tmp_path / "mine"), "verify") as journal:
            assert journal.folder == tmp_path / "mine"
        with pytest.raises(UsageError, match="already has a run in it"):
            open_run(world, self.HEADER, RunRequest(output=tmp_path / "mine"))

    def test_a_run_goes_on_where_it_lies_given_as_path_or_id(self, world: FakeServices):
        with open_run(world, self.HEADER, RunRequest()) as journal:
            journal.record(Entry(release="3.5.0", untestable="no wheel"))
            folder = journal.folder
        for resume in (folder, Path(folder.name)):
            with open_run(world, self.HEADER, RunRequest(resume=resume)) as again:
                assert [entry.untestable for entry in again.entries()] == ["no wheel"]

    @pytest.mark.parametrize("name", ["output", "resume"])
    def test_a_folder_that_cannot_be_one_is_refused_before_any_work(
        self, world: FakeServices, tmp_path: Path, name: str
    ):
        (tmp_path / "file").write_text("")
        with pytest.raises(UsageError):
            check_place(world, RunRequest(**{name: tmp_path / "file" / "run"}))  # type: ignore[arg-type]

    def test_checking_makes_nothing(self, world: FakeServices, tmp_path: Path):
        check_place(world, RunRequest(output=tmp_path / "mine"))
        check_place(world, RunRequest())
        assert not (tmp_path / "mine").exists()
        assert not (tmp_path / "reports").exists()


def test_a_stopwatch_never_runs_back():
    watch = Stopwatch()
    assert 0 <= watch.seconds <= watch.seconds


class TestArguments:
    def test_they_are_handed_to_a_script_alone(self):
        script = case(level=Level.SCRIPT)
        assert with_arguments(script, ["--n", "5"]).arguments == ("--n", "5")
        assert with_arguments(script, []) is script
        for other in (case(), case(level=Level.SCRIPT, runner=Runner.COMMAND)):
            with pytest.raises(UsageError, match="takes no arguments"):
                with_arguments(other, ["3.5.0"])

    def test_what_was_assumed_is_said(self):
        heard = Heard()
        say_assumed(heard, case(assumed=("under test: keras",)))
        assert [event.detail for event in heard.events] == ["harness: under test: keras"]
