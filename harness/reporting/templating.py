"""One Jinja environment for all text reports; HTML is escaped by default."""

from __future__ import annotations

from functools import lru_cache

import jinja2

from harness.domain.findings.transition import folded
from harness.reporting import text


@lru_cache(maxsize=1)
def environment() -> jinja2.Environment:
    """Return the environment with the filters that the templates use."""
    made = jinja2.Environment(
        loader=jinja2.PackageLoader("harness.reporting"),
        autoescape=jinja2.select_autoescape(["html"]),
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        undefined=jinja2.StrictUndefined,
    )
    made.filters.update(
        anchor=text.anchor,
        clean=text.clean,
        code=text.code,
        command=text.command,
        fenced=text.fenced,
        folded=folded,
        key=text.key_numbers,
        lines=text.lines,
        md=text.markdown,
        number=text.number,
        secs=text.seconds,
    )
    return made
