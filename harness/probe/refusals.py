"""The exception that says that a trial cannot be run on this machine, or cannot be read."""

from __future__ import annotations


class Refused(Exception):
    """The trial says nothing about the release; the text is the reason for which it is skipped."""
