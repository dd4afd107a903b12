"""The one environment of all templates."""

from __future__ import annotations

from importlib import resources

import jinja2
import pytest

from harness.reporting.templating import environment

ROOT = resources.files("harness.reporting") / "templates"
FILES = [path.name for path in ROOT.iterdir() if path.is_file()]
TEMPLATES = sorted([*FILES, *(f"pages/{path.name}" for path in (ROOT / "pages").iterdir())])


@pytest.mark.parametrize("name", TEMPLATES)
def test_every_template_compiles(name):
    """An unknown filter is found here, not at the end of a run."""
    assert environment().get_template(name).name == name


def test_a_name_that_is_missing_is_an_error():
    """An empty place in a report would be taken for an answer."""
    with pytest.raises(jinja2.UndefinedError, match="fnding"):
        environment().from_string("{{ fnding }}").render(finding=1)


def test_html_is_escaped_by_itself_and_markdown_is_not():
    autoescape = environment().autoescape
    assert callable(autoescape)
    assert autoescape("report.html")
    assert not autoescape("report.md")


def test_the_filters_make_text_safe():
    text = (
        environment()
        .from_string("{% autoescape false %}{{ x | md }} {{ x | code }} {{ x | clean }}{% endautoescape %}")
        .render(x="\x1b[31m*a*\n`b`")
    )
    assert text == "\\*a\\* \\`b\\` `*a* 'b'` *a* `b`"
