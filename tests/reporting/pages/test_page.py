"""The frame of every page."""

from __future__ import annotations

import base64
import hashlib

from harness.reporting.pages.page import policy


def test_the_policy_allows_the_one_script_and_nothing_from_outside():
    digest = base64.b64encode(hashlib.sha256(b"x()").digest()).decode()
    assert f"script-src 'sha256-{digest}'" in policy("x()")
    assert policy("x()").startswith("default-src 'none'")
