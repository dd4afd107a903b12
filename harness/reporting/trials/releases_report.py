"""The releases of a package, as a table and as JSON."""

from __future__ import annotations

import json
from dataclasses import asdict

from rich.console import RenderableType
from rich.markup import escape

from harness.domain.releases.listing import Listing
from harness.reporting.terminal import table
from harness.reporting.text import clean

COLUMNS = ("version", "date", "requires-python", "yanked", "usable here")


def json_text(listing: Listing) -> str:
    """The listing as JSON."""
    releases = [asdict(release) for release in listing.releases]
    return json.dumps({"package": listing.package, "order": listing.order.value, "releases": releases}, indent=2)


def terminal(listing: Listing) -> RenderableType:
    """One row per release."""
    searched = len(listing.releases) - listing.left_out
    made = table(f"{listing.package}: {searched} releases, {listing.left_out} left out", COLUMNS)
    made.title_justify = "center"
    for release in listing.releases:
        cells = (release.version, release.date, release.requires_python, release.yanked, release.usable)
        made.add_row(*(escape(clean(cell or "", 200)) for cell in cells))
    return made
