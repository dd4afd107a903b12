"""Alerts as GitHub issues: found by their hidden key, never by title; the token is used in this step alone.

Needs the extra ``github`` (PyGithub), which is imported when it is used.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING

import requests

from harness.domain.errors import InfrastructureError, UsageError
from harness.domain.nightly.publishing import CHANGE_MARK, MARK, Action, ActionKind, Posted

if TYPE_CHECKING:
    from github.Issue import Issue
    from github.Repository import Repository

LABEL = "nightly-alert"
DEFAULT_ADDRESS = "https://api.github.com"
TIMEOUT_SECONDS = 30
RETRIES = 3
_KEY = re.compile(rf"<!-- {MARK}: ([0-9a-f]+) -->")
_CHANGE = re.compile(rf"<!-- {CHANGE_MARK}: [^>]* -->")


class GitHubTracker:
    """The issues of one repository that carry our label and a key.

    Args:
        repository: OWNER/REPO.
        token: Needs ``issues: write``.
        address: Of the API; another one for GitHub Enterprise.
    """

    def __init__(self, repository: str, token: str, address: str = DEFAULT_ADDRESS) -> None:
        try:
            from github import Auth, Github
        except ImportError:
            raise UsageError(
                "--github needs PyGithub", where="the extra 'github'", hint='pip install "regression-harness[github]"'
            ) from None
        self._client = Github(
            auth=Auth.Token(token), base_url=address, timeout=TIMEOUT_SECONDS, retry=RETRIES, lazy=True
        )
        self._name = repository
        self._issues: dict[int, Issue] = {}

    def posted(self) -> dict[str, Posted]:
        """Issues by key; of several with one key the oldest, so that a race never grows."""
        found: dict[str, Posted] = {}
        with _readable_errors(self._name):
            issues = self._repository().get_issues(state="all", labels=[LABEL], sort="created", direction="asc")
            for issue in issues:
                key = _KEY.search(issue.body or "")
                if key and key[1] not in found:
                    self._issues[issue.number] = issue
                    changes = frozenset(m for c in issue.get_comments() for m in _CHANGE.findall(c.body or ""))
                    found[key[1]] = Posted(
                        number=issue.number, is_open=issue.state == "open", body=issue.body or "", marks=changes
                    )
        return found

    def perform(self, acts: Iterable[Action]) -> list[str]:
        """Perform the actions one by one; returns a line for each."""
        lines = []
        for act in acts:
            with _readable_errors(self._name):
                number = self._perform(act)
            lines.append(f"{act.do.value} #{number}" + (f": {act.title}" if act.title else ""))
        return lines

    def _perform(self, act: Action) -> int:
        if act.do is ActionKind.OPEN or act.number is None:
            return self._repository().create_issue(title=act.title, body=act.body, labels=[LABEL]).number
        issue = self._issues[act.number]
        match act.do:
            case ActionKind.EDIT:
                issue.edit(body=act.body)
            case ActionKind.COMMENT:
                issue.create_comment(act.body)
            case ActionKind.REOPEN:
                issue.edit(state="open")
            case ActionKind.CLOSE:
                issue.edit(state="closed", state_reason="completed")
        return act.number

    def _repository(self) -> Repository:
        return self._client.get_repo(self._name)


@contextmanager
def _readable_errors(repository: str) -> Iterator[None]:
    """Turn what the client library raises into one message without the token."""
    from github import GithubException

    try:
        yield
    except GithubException as error:
        answer: Mapping[str, object] = error.data if isinstance(error.data, dict) else {}
        raise InfrastructureError(
            f"GitHub refused ({error.status}): {str(answer.get('message', ''))[:200]}",
            where=repository,
            hint="does the token have issues: write for this repository? Correct it and run the same command again",
        ) from None
    except requests.RequestException as error:
        raise InfrastructureError(
            f"GitHub does not answer: {type(error).__name__}",
            where=repository,
            hint="run the same command again: nothing is posted twice",
        ) from None
