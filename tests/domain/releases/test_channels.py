"""What ``--channel`` asks for, and how a commit is written."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.domain.errors import UsageError
from harness.domain.releases import channels
from harness.domain.releases.channels import is_commit, parse_channels
from harness.domain.releases.release import Channel


@pytest.mark.parametrize(
    ("text", "package", "asked"),
    [
        (None, None, (Channel.STABLE,)),
        (None, "keras", (Channel.STABLE,)),
        (None, "keras-nightly", (Channel.NIGHTLY,)),
        ("nightly", None, (Channel.NIGHTLY,)),
        ("stable, nightly", None, (Channel.STABLE, Channel.NIGHTLY)),
        ("nightly,commit", "keras-nightly", (Channel.NIGHTLY, Channel.COMMIT)),
        ("stable,nightly,commit,hunk", None, channels.ALL),
        ("hunk", None, (Channel.STABLE, Channel.HUNK)),
        ("hunk", "keras-nightly", (Channel.NIGHTLY, Channel.HUNK)),
    ],
)
def test_reading(text: str | None, package: str | None, asked: tuple[Channel, ...]) -> None:
    assert parse_channels(text, package) == asked


def test_refusing() -> None:
    with pytest.raises(UsageError, match="unknown channel"):
        parse_channels("weekly")
    with pytest.raises(UsageError, match="unknown channel"):
        parse_channels("nightly,stable")
    with pytest.raises(UsageError, match="nightly builds alone"):
        parse_channels("stable", "tf-nightly")


@given(st.lists(st.sampled_from([c.value for c in Channel]), max_size=4))
def test_channels_run_from_coarse_to_fine_each_once(names: list[str]) -> None:
    """A search goes on inside the transitions of the one before; any other order would go nowhere."""
    ordered = [channel.value for channel in channels.ALL if channel.value in names]
    try:
        chosen = parse_channels(",".join(names))
    except UsageError as error:
        assert names != ordered or not names
        assert error.where == "--channel"
    else:
        assert names == ordered
        if names == ["hunk"]:  # which lie between two releases
            names = ["stable", "hunk"]
        assert [channel.value for channel in chosen] == names


@pytest.mark.parametrize("text", ["commit:HEAD", "pr:21072", "4aae578", "4aae578b7f67", "f" * 40])
def test_what_only_a_clone_has(text: str) -> None:
    assert is_commit(text)


@pytest.mark.parametrize(
    "text", ["3.10.0", "nightly", "latest", "", "4aae57", "f" * 41, "3.7.0.dev2024112803", "FACADE1"]
)
def test_what_the_index_has(text: str) -> None:
    assert not is_commit(text)
