"""The metadata block: what PEP 723 calls one, and a clear message for what was meant as one."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.domain.cases.inline_metadata import EXAMPLE_BLOCK, code_text, metadata_lines, metadata_text
from harness.domain.errors import UsageError

# As PEP 723 prints it, and the lines below it in its reference implementation.
REFERENCE = re.compile(r"(?m)^# /// (?P<type>[a-zA-Z0-9-]+)$\s(?P<content>(^#(| .*)$\s)+)^# ///$")
LINES = st.lists(
    st.sampled_from(
        [
            "# /// script",
            "# ///",
            "#",
            "# a = 1",
            "# b = '''",
            "#c = 2",
            "x = 1",
            "",
            "# /// other",
            "  # ///",
            "# /// ",
        ]
    ),
    max_size=12,
).map("\n".join)


def reference_reader(script: str) -> str | None:
    """The reference implementation of PEP 723."""
    matches = [match for match in REFERENCE.finditer(script) if match["type"] == "script"]
    if len(matches) > 1:
        raise ValueError("Multiple script blocks found")
    if not matches:
        return None
    content = matches[0].group("content").splitlines(keepends=True)
    return "".join(line[2:] if line.startswith("# ") else line[1:] for line in content)


class TestMetadataBlock:
    @given(LINES)
    def test_it_is_read_as_the_reference_implementation_of_pep_723_reads_it(self, text):
        """What the PEP's own code finds is found, with the same content; what it does not find is never made up."""
        try:
            expected = reference_reader(text)
        except ValueError:
            with pytest.raises(UsageError, match="more than one"):
                metadata_text(text, where="my.py")
            return
        try:
            assert metadata_text(text, where="my.py") == expected
        except UsageError as error:
            assert expected is None
            assert "is not closed" in error.what

    def test_the_block_ends_at_the_last_closing_line_of_the_comment(self):
        """The PEP's own example: a closing line that another comment line follows belongs to the content."""
        text = (
            '# /// script\n# cs = """\n# /// <summary>\n# ///\n# public class MyClass { }\n# """\n# ///\nimport keras\n'
        )
        assert metadata_text(text, where="my.py") == 'cs = """\n/// <summary>\n///\npublic class MyClass { }\n"""\n'

    def test_a_file_of_openings_alone_is_read_in_no_time(self):
        """A regular expression that backtracks would take minutes; this must simply end."""
        with pytest.raises(UsageError, match="that line 1 opens is not closed"):
            metadata_text("# /// script\n" * 80_000, where="my.py")

    def test_blocks_of_other_tools_are_none_of_ours(self):
        assert metadata_text("# /// pyproject\n# a = 1\n# ///\n", where="my.py") is None

    def test_a_file_without_a_block_has_no_metadata(self):
        assert metadata_text("import keras\n", where="my.py") is None

    def test_the_example_that_messages_show_can_be_pasted(self):
        assert metadata_text(f"{EXAMPLE_BLOCK}\nimport keras\n", where="my.py") == (
            'dependencies = ["keras", "tensorflow"]\n[tool.harness]\ntitle = "what goes wrong, in one line"\n'
        )

    def test_two_blocks_are_refused(self):
        block = "# /// script\n# a = 1\n# ///\n"
        with pytest.raises(UsageError) as caught:
            metadata_text(f"{block}\n{block}", where="my.py")
        assert caught.value.what == "more than one '# /// script' block"
        assert caught.value.where == "my.py"
        assert caught.value.hint == "keep one (PEP 723 allows no more)"

    @pytest.mark.parametrize(
        "text",
        [
            "import os\n# /// script\n# a = 1\n",
            "import os\n# /// script\n# a = 1\n\n# ///\n",
            "import os\n# /// script\n#a = 1\n# ///\n",
            "import os\n# /// script \n# a = 1\n# ///\n",
            "import os\n#/// script\n# a = 1\n# ///\n",
            "import os\n# /// script\n# a = 1\n# /// \n",
            "import os\n# /// script\n# ///\n",
        ],
    )
    def test_what_was_meant_as_a_block_but_is_none_says_in_which_line_and_how_to_write_it(self, text):
        with pytest.raises(UsageError) as caught:
            metadata_text(text, where="my.py")
        assert caught.value.what == "the '# /// script' block that line 2 opens is not closed"
        assert caught.value.where == "my.py"
        assert caught.value.hint == (
            "begin it with '# /// script', start each line with '# ', end it with '# ///'; no spaces behind"
        )

    @pytest.mark.parametrize("behind", ["", "# one\n", "# one\n#\n", "# one\n# two\n# three\n"])
    def test_comments_behind_the_block_are_no_part_of_it(self, behind):
        assert metadata_text(f"# /// script\n# a = 1\n# ///\n{behind}", where="my.py") == "a = 1\n"

    def test_a_block_of_another_tool_may_stand_before_and_behind(self):
        other, own = "# /// other\n# b = 2\n# ///\n", "# /// script\n#\n# a = 1\n# ///\n"
        assert metadata_text(f"{other}\n{own}\n{other}", where="my.py") == "\na = 1\n"


class TestCode:
    """What runs is what is left when the metadata is taken out."""

    def test_the_block_is_left_out_and_nothing_else(self):
        text = f"# a comment\n{EXAMPLE_BLOCK}\nimport keras\n"
        assert code_text(text) == "# a comment\nimport keras\n"
        assert metadata_lines(text) == EXAMPLE_BLOCK.count("\n") + 1

    @given(LINES)
    def test_lines_left_and_lines_left_out_are_all_lines(self, text):
        assert code_text(text).count("\n") + 1 + metadata_lines(text) in {text.count("\n") + 1, text.count("\n") + 2}

    @given(LINES)
    def test_what_has_no_block_is_kept_as_it_is(self, text):
        code = code_text(text)
        assert (code == text) == (metadata_lines(text) == 0)

    @given(LINES, st.lists(st.sampled_from(["#", "# a = 1", "# title = 'x'"]), min_size=1))
    def test_another_block_is_the_same_code(self, before, body):
        block = ["# /// script", *body, "# ///", "x = 1"]
        plain = ["# /// script", "# b = 2", "# ///", "x = 1"]
        head = [before, ""] if not before.startswith("#") else [""]
        assert code_text("\n".join([*head, *block])) == code_text("\n".join([*head, *plain]))
