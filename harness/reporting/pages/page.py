"""The frame of every HTML report: style, the one script (copying), and the policy that allows nothing else."""

from __future__ import annotations

import base64
import hashlib

from harness.reporting.templating import environment

SCRIPT = "pages/copy.js"


def render(template: str, **values: object) -> str:
    """Return one page.

    Args:
        template: Name of a template that extends ``pages/frame.html``.
        **values: What it shows.
    """
    made = environment()
    script = made.get_template(SCRIPT).render()
    return made.get_template(template).render(policy=policy(script), script=script, **values)


def policy(script: str) -> str:
    """The content security policy: inline style, and the one script by its hash."""
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    return (
        f"default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-{digest}'; "
        "base-uri 'none'; form-action 'none'"
    )
