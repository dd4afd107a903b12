"""The command that asks the same again."""

from __future__ import annotations

import shlex
from typing import Any

from harness.adapters.storage import case_files
from harness.domain.cases import parameters
from harness.domain.cases.case import Case
from harness.domain.findings.question import Question
from harness.domain.releases.release import Channel


def of_bisect(case: Case, question: Question, given: dict[str, Any]) -> str:
    """The command of a search."""
    words = ["harness", "bisect", case_files.callable_as(case), "--from", question.first, "--to", question.last]
    if given["channels"] != (Channel.STABLE,):
        words += ["--channel", ",".join(channel.value for channel in given["channels"])]
    words += ["--clone", str(given["clone"])] if given["clone"] else []
    words += ["--package", given["package"]] if given["package"] else []
    words += [word for pin in given["pins"] for word in ("--with", pin)]
    words += [word for symptom in question.symptoms for word in ("--symptom", symptom.value)]
    words += parameters.words(question.options)
    for flag, value, default in (
        ("--replicas", given["replicas"], None),
        ("--strategy", given["strategy"], None),
        ("--repeats", given["repeats"], None),
        ("--max-trials", given["max_trials"], None),
        ("--confidence", given["confidence"], 0.99),
        ("--max-gap", given["max_gap"], None),
        ("--python", given["python"], None),
        ("--companions", given["mode"], "fixed"),
        ("--order", given["order"], "version"),
    ):
        words += [flag, str(value)] if value != default else []
    return shlex.join(words)


def of_verify_fix(case: Case, question: Question, given: dict[str, Any]) -> str:
    """The command that verifies fixes over a range."""
    words = ["harness", "verify-fix", case_files.callable_as(case), "--from", question.first, "--to", question.last]
    words += [word for name in given["names"] for word in ("--fix", name)]
    words += ["--patch", str(given["patch_file"])] if given["patch_file"] else []
    words += ["--sweep-mapping"] if given["sweep"] else []
    return shlex.join([*words, *settings_of(given)])


def settings_of(given: dict[str, Any]) -> list[str]:
    """The options that every way of verifying shares, as far as they were given."""
    words = [word for pin in given["pins"] for word in ("--with", pin)]
    words += [word for symptom in given["symptoms"] for word in ("--symptom", symptom)]
    words += parameters.words(given["options"])
    for flag, value, default in (
        ("--replicas", given["replicas"], None),
        ("--repeats", given["repeats"], None),
        ("--companions", given["mode"], "fixed"),
        ("--python", given["python"], None),
        ("--order", given["order"], "version"),
    ):
        words += [flag, str(value)] if value != default else []
    return words
