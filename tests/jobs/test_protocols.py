"""The protocols of the jobs: the words of events, and that the objects of the tests are worlds as the real ones are."""

from __future__ import annotations

from pathlib import Path
from typing import get_type_hints

import pytest

from harness.jobs import protocols
from harness.jobs.events import Event, EventKind, Listener
from harness.jobs.protocols import Services
from tests.examples import case
from tests.fakes import FakeServices, Heard, services_are_whole

MEMBERS = [name for name in vars(Services) if not name.startswith("_")]


@pytest.mark.parametrize("name", MEMBERS)
def test_the_services_of_the_tests_have_every_part(tmp_path: Path, name: str):
    """What mypy holds by the protocol is there when it is asked for as well."""
    assert hasattr(services_are_whole(FakeServices(tmp_path, [case()], [])), name)


def test_what_listens_takes_every_event():
    heard: Listener = Heard()
    for kind in EventKind:
        heard.notify(Event(kind=kind))
    assert [event.kind for event in heard.events] == list(EventKind) if isinstance(heard, Heard) else False


def test_every_protocol_is_described():
    made = [each for each in vars(protocols).values() if getattr(each, "_is_protocol", False)]
    assert {each.__name__ for each in made} >= {"Services", "Journal", "Runs", "Trials", "Environments"}
    assert all(each.__doc__ for each in made)
    assert get_type_hints(Event)["kind"] is EventKind
