"""Options: each reaches the field of the request that it names, and none has a meaning of its own in a command."""

from __future__ import annotations

import io
from dataclasses import fields
from pathlib import Path
from typing import Any

import click
import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Group

from harness.cli import options
from harness.cli.main import COMMANDS
from harness.domain.cases.backends import Backend
from harness.domain.cases.symptoms import Symptom
from harness.domain.errors import UsageError
from harness.domain.releases.companions import Mode
from harness.domain.releases.release import Channel, Order
from harness.jobs.requests import WEEK, BisectRequest, NightlyRequest, VerifyRequest, WorkaroundsRequest
from harness.reporting.terminal import whole_line
from tests.cli.parsing import command_named, parse

Reached = tuple[tuple[str, ...], str, Any]
"""Words of a command line, the field of the request, its value."""

RANGE: list[Reached] = [
    (("--from", "3.6.0"), "first", "3.6.0"),
    (("--to", "3.10.0"), "last", "3.10.0"),
    (("--order", "date"), "order", Order.DATE),
]
ENVIRONMENT: list[Reached] = [
    (("--with", "numpy==2.0.2", "--with", "scipy==1.1"), "pins", ("numpy==2.0.2", "scipy==1.1")),
    (("--companions", "as-of"), "mode", Mode.AS_OF),
    (("--python", "3.11"), "python", "3.11"),
    (("--override", "protobuf==5.29.5"), "overrides", ("protobuf==5.29.5",)),
    (("--backend", "jax"), "backend", Backend.JAX),
    (("--env", "TF_DETERMINISTIC_OPS=1"), "env", ("TF_DETERMINISTIC_OPS=1",)),
]
RUN: list[Reached] = [
    (("--jobs", "3"), "jobs", 3),
    (("--output", "reports/new"), "output", Path("reports/new")),
    (("--resume", "reports/old"), "resume", Path("reports/old")),
    (("--fresh",), "fresh", True),
]
SET: list[Reached] = [(("--set", "fault=nan", "--set", "size=2"), "settings", ("fault=nan", "size=2"))]
PACKAGE: list[Reached] = [(("--package", "keras-nightly"), "package", "keras-nightly")]
REPLICAS: list[Reached] = [(("--replicas", "4"), "replicas", 4)]
STRATEGY: list[Reached] = [(("--strategy", "tpu"), "strategy", "tpu")]
SYMPTOMS: list[Reached] = [
    (
        ("--symptom", "exception", "--symptom", "wrong-metric"),
        "symptoms",
        (Symptom.EXCEPTION, Symptom.WRONG_METRIC),
    )
]
SOUGHT: list[Reached] = [
    (("--value", "loss: (.*)"), "value", "loss: (.*)"),
    (("--equals", "nan"), "equals", "nan"),
    (("--warning", "odd"), "warning", "odd"),
    (("--match", "ValueError"), "match", "ValueError"),
    (("--python-flag", "-Werror", "--python-flag=-O"), "python_flags", ("-Werror", "-O")),
]
REPEATS: list[Reached] = [(("--repeats", "3"), "repeats", 3)]
FRESH: list[Reached] = [(("--fresh",), "fresh", True)]
RELEASE: list[Reached] = [(("--release", "3.9.0"), "release", "3.9.0")]

NEEDED = {
    "bisect": ("identity",),
    "diagnose": ("identity",),
    "export": ("identity", "--release", "latest"),
    "grid": ("identity", "--also", "tensorflow", "--also-from", "2.17.1"),
    "history": ("identity",),
    "report": ("reports/run",),
    "repro": ("3.9.0",),
    "reproduce": ("reports/run", "--release", "3.8.0"),
    "run": ("identity", "--release", "latest"),
    "verify-fix": ("identity", "--fix", "no-aggregation"),
    "workarounds": ("stft_loss",),
}
"""Words without which a command is refused."""

REACHED: dict[str, list[Reached]] = {
    "aggregation": [*RANGE, *ENVIRONMENT, *PACKAGE, (("--live",), "live", True)],
    "bisect": [
        *SOUGHT,
        (("--reference", "3.6.0"), "reference", "3.6.0"),
        *RANGE, *ENVIRONMENT, *RUN, *SET, *PACKAGE, *REPLICAS, *STRATEGY, *SYMPTOMS, *REPEATS,
        (("--channel", "stable,nightly"), "channels", (Channel.STABLE, Channel.NIGHTLY)),
        (("--clone", ".", "--channel", "commit"), "clone", Path()),
        (("--max-trials", "30"), "max_trials", 30),
        (("--confidence", "0.999"), "confidence", 0.999),
        (("--max-gap", "2"), "max_gap", 2),
        (("--memory", "4G"), "memory_bytes", 4 << 30),
        (("--", "--n", "5"), "arguments", ("--n", "5")),
    ],
    "diagnose": [
        *ENVIRONMENT, *SET, *REPLICAS, *FRESH, *RELEASE, (("--policy", "mixed_float16"), "policy", "mixed_float16"),
    ],
    "export": [*ENVIRONMENT, *SET, *PACKAGE, *REPLICAS, *RELEASE],
    "grid": [
        *SOUGHT, *RANGE, *ENVIRONMENT, *RUN, *SET, *PACKAGE, *REPLICAS, *SYMPTOMS, *REPEATS,
        (("--also", "numpy"), "also", "numpy"),
        (("--also-from", "2.18.1"), "also_first", "2.18.1"),
        (("--also-to", "2.19.1"), "also_last", "2.19.1"),
        (("--max-gap", "2"), "max_gap", 2),
    ],
    "history": [],
    "nightly": [
        *ENVIRONMENT,
        (("--package", "tf-nightly"), "package", "tf-nightly"),
        (("--state", "nights"), "state", Path("nights")),
        (("--expectations", "mine.toml"), "expectations", Path("mine.toml")),
        (("--stale-after", "5"), "stale_after", 5),
        (("--confirmations", "2"), "confirmations", 2),
        (("--jobs", "3"), "jobs", 3),
        (("--max-gap", "0"), "max_gap", 0),
        (("--simulate", "--since", "2024-11-01", "--until", "2024-11-30"), "since", "2024-11-01"),
        (("--simulate", "--since", "2024-11-01", "--until", "2024-11-30"), "until", "2024-11-30"),
        (("--simulate", "--since", "2024-11-01", "--until", "2024-11-30"), "simulated", True),
    ],
    "releases": [*RANGE, *PACKAGE],
    "report": [],
    "repro": [*ENVIRONMENT, *PACKAGE, *FRESH],
    "reproduce": [*RELEASE],
    "run": [*SOUGHT, *ENVIRONMENT, *SET, *PACKAGE, *REPLICAS, *STRATEGY, *FRESH, *RELEASE],
    "verify-fix": [
        *RANGE, *ENVIRONMENT, *RUN, *SET, *REPLICAS, *SYMPTOMS, *REPEATS,
        (("--fix", "mine.py"), "fixes", ("no-aggregation", "mine.py")),
        (("--patch", "my.diff"), "patch", Path("my.diff")),
        (("--sweep-mapping",), "sweep_mapping", True),
        (("--clone", "."), "clone", Path()),
    ],
    "workarounds": [
        *ENVIRONMENT, *RUN,
        (("--release", "3.9.2", "--release", "latest"), "releases", ("3.9.2", "latest")),
        (("--replicas", "1,2"), "replicas", (1, 2)),
    ],
}  # fmt: skip
BESIDE: dict[str, list[Reached]] = {
    "export": [(("-o", "mine.py"), "output", Path("mine.py")), (("--output", "mine.py"), "output", Path("mine.py"))],
    "history": [(("--state", "nights"), "state", Path("nights"))],
    "nightly": [
        (("--report-only",), "report_only", True),
        (("--github", "o/r"), "github", "o/r"),
        (("--base-url", "https://example.org"), "base_url", "https://example.org"),
        (("--webhook", "https://example.org"), "webhook", "https://example.org"),
        (("--dry-run",), "dry_run", True),
    ],
    "releases": [(("--refresh",), "refresh", True)],
}
"""Options that the command itself obeys: how it prints, writes and publishes."""
NO_JSON = {"export", "repro"}


@pytest.mark.parametrize(
    ("command", "words", "field", "value"),
    [
        pytest.param(command, *reached, id=f"{command} {' '.join(reached[0])} {reached[1]}")
        for command, rows in REACHED.items()
        for reached in rows
    ],
)
def test_each_option_reaches_the_field_that_it_names(command, words, field, value):
    needed = NEEDED.get(command, ())
    without, _ = parse(command, *needed)
    request, _ = parse(command, *needed, *words)
    assert getattr(request, field) == value
    assert getattr(without, field) != value, "else this test shows nothing"


@pytest.mark.parametrize(
    ("command", "words", "name", "value"),
    [
        *[(command, *reached) for command, rows in BESIDE.items() for reached in rows],
        *[(command, ("--json",), "as_json", True) for command in COMMANDS if command not in NO_JSON],
    ],
)
def test_what_concerns_printing_and_publishing_is_no_part_of_the_request(command, words, name, value):
    needed = NEEDED.get(command, ())
    request, beside = parse(command, *needed, *words)
    assert beside[name] == value
    assert parse(command, *needed)[1][name] != value, "else this test shows nothing"
    if name != "output":  # a run has a folder of this name, an exported script a file
        assert request is None or name not in {one.name for one in fields(request)}


@pytest.mark.parametrize("command", COMMANDS)
def test_no_option_is_left_out_above(command):
    rows = [*REACHED[command], *BESIDE.get(command, []), *([] if command in NO_JSON else [(("--json",), "", True)])]
    tried = {word for words, _, _ in rows for word in (*words, *NEEDED.get(command, ()))}
    missing = [
        option.opts
        for option in command_named(command).params
        if isinstance(option, click.Option) and not set(option.opts) & tried
    ]
    alone = {"verify-fix": [["--fixed-in"]], "bisect": [["--command"]], "run": [["--command"]]}
    assert missing == alone.get(command, []), "these stand alone, see below"


class TestRequests:
    """What no option says is what the request says without it: Python and the command line ask the same."""

    @pytest.mark.parametrize(
        ("command", "request_made"),
        [
            ("bisect", BisectRequest(case="identity")),
            ("verify-fix", VerifyRequest(case="identity", fixes=("no-aggregation",))),
            ("workarounds", WorkaroundsRequest(case="stft_loss")),
            ("nightly", NightlyRequest()),
        ],
    )
    def test_the_defaults_are_those_of_the_request(self, command, request_made):
        assert parse(command, *NEEDED.get(command, ()))[0] == request_made

    def test_a_fixed_release_stands_alone(self):
        request, _ = parse("verify-fix", "identity", "--fixed-in", "3.10.0")
        assert (request.fixed_in, request.fixes) == ("3.10.0", ())
        with pytest.raises(UsageError, match="say what should be verified"):
            parse("verify-fix", "identity", "--fixed-in", "3.10.0", "--fix", "no-aggregation")

    @pytest.mark.parametrize("command", ["bisect", "run"])
    def test_a_command_stands_in_place_of_a_case(self, command):
        words = ("--release", "latest") if command == "run" else ()
        assert parse(command, "--command", "make check", *words)[0].case == "command:make check"
        with pytest.raises(UsageError, match="not both"):
            parse(command, "identity", "--command", "make check", *words)

    def test_cases_are_arguments(self):
        assert parse("nightly", "identity", "mnist_cnn")[0].cases == ("identity", "mnist_cnn")
        request, _ = parse("repro", "3.9.0", "identity", "mnist_cnn")
        assert (request.release, request.cases) == ("3.9.0", ("identity", "mnist_cnn"))

    def test_a_run_is_an_argument(self):
        assert parse("report", "reports/run")[0].run == Path("reports/run")
        assert parse("reproduce", "reports/run", "--release", "3.9.0")[0].run == Path("reports/run")

    def test_a_package_that_is_a_nightly_is_searched_as_one(self):
        assert parse("bisect", "identity", "--package", "keras-nightly")[0].channels == (Channel.NIGHTLY,)
        assert parse("nightly")[0].max_gap == WEEK

    @pytest.mark.parametrize("words", [["--channel", "commit"], ["--clone", "."]])
    def test_commits_and_a_clone_go_together(self, words):
        with pytest.raises(UsageError, match="commits and a clone go together"):
            parse("bisect", "identity", *words)


class TestReplicas:
    @pytest.mark.parametrize(("text", "counts"), [(None, ()), ("2", (2,)), ("1, 2,2,8", (1, 2, 8)), ("64", (64,))])
    def test_a_list_is_read_once_each(self, text, counts):
        assert options.replica_counts(text) == counts

    @pytest.mark.parametrize("text", ["", "0", "1,,2", "two", "65", "-1"])
    def test_what_is_no_list_of_replicas_is_refused(self, text):
        with pytest.raises(UsageError, match="is no list of replicas"):
            options.replica_counts(text)

    @given(st.text(max_size=6))
    def test_no_text_ends_in_another_error(self, text):
        try:
            counts = options.replica_counts(text)
        except UsageError as error:
            assert error.where == "--replicas"
        else:
            assert counts
            assert all(1 <= count <= 64 for count in counts)


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


def test_a_table_that_goes_to_a_file_is_wide(monkeypatch):
    monkeypatch.setattr("sys.stdout", io.StringIO())
    assert options.console().width >= options.WIDE


def test_a_line_to_copy_is_never_cropped(capsys):
    command = "harness bisect identity --from 3.5.0 " + "--with numpy==2.0.2 " * 20
    options.show(Group(whole_line(command)))
    assert command.strip() in capsys.readouterr().out


def test_an_enum_option_gives_members_and_refuses_other_words():
    @click.command()
    @options.enum_option("--order", kind=Order, default=Order.DATE, help="h")
    @options.enum_option("--modes", kind=Mode, multiple=True, help="h")
    @options.enum_option("--channel", kind=Channel, help="h")
    def command(**values: object) -> dict[str, object]:
        return values

    def read(*words: str) -> object:
        return command.main(list(words), standalone_mode=False)

    assert read() == {"order": Order.DATE, "modes": (), "channel": None}
    assert read("--modes", "fixed", "--channel", "commit") == {
        "order": Order.DATE,
        "modes": (Mode.FIXED,),
        "channel": Channel.COMMIT,
    }
    with pytest.raises(click.BadParameter, match="'size' is not one of"):
        read("--order", "size")
