"""What cannot be run here."""

from __future__ import annotations


class Refused(Exception):
    """The trial cannot be run here; its text is the reason of the skip."""
