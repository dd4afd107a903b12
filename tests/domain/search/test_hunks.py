"""Trees as hunks: all hunks together are the whole change, each part of them can be applied, and diffs can be read."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from harness.domain.search.hunks import Hunk, Tree, applied, changed_files, counted, hunks_of, unified

TEXTS = st.lists(st.sampled_from(["a\n", "b\n", "c\n", "\n", "x\fy\n", "é\r\n", "end"]), max_size=8).map("".join)
TREES = st.dictionaries(st.sampled_from(["p/__init__.py", "p/a.py", "p/sub/b.py", "p/data.json"]), TEXTS)


def after(before: Tree, hunks: tuple[Hunk, ...]) -> dict[str, str]:
    merged = {**before, **applied(before, hunks)}
    return {name: text for name, text in merged.items() if text is not None}


class TestHunks:
    @given(TREES, TREES)
    def test_all_hunks_of_all_changed_files_make_the_other_tree(self, one: dict[str, str], other: dict[str, str]):
        hunks = hunks_of(one, other, changed_files(one, other))
        assert after(one, hunks) == other
        assert after(one, ()) == one

    @given(TREES, TREES, st.data())
    def test_hunks_that_are_applied_in_two_steps_of_files_or_at_once_are_the_same(
        self, one: dict[str, str], other: dict[str, str], data: st.DataObject
    ):
        hunks = hunks_of(one, other, changed_files(one, other))
        some = tuple(hunk for hunk in hunks if data.draw(st.booleans()))
        assert after(one, some) == after(one, some[::-1])
        untouched = {*one} - {hunk.file for hunk in some}
        assert {name: after(one, some)[name] for name in untouched} == {name: one[name] for name in untouched}

    def test_a_hunk_is_a_replacement_of_lines(self):
        before, new = {"p/a.py": "1\n2\n3\n4\n"}, {"p/a.py": "1\ntwo\n3\n4\n5\n"}
        assert hunks_of(before, new, ["p/a.py"]) == (
            Hunk(file="p/a.py", first=1, last=2, lines=("two\n",)),
            Hunk(file="p/a.py", first=4, last=4, lines=("5\n",)),
        )

    def test_files_of_one_side_alone_are_one_hunk_each(self):
        assert hunks_of({"p/old.py": "1\n2\n"}, {"p/new.py": "3\n"}, ["p/new.py", "p/old.py"]) == (
            Hunk(file="p/new.py", first=0, last=0, lines=("3\n",)),
            Hunk(file="p/old.py", first=0, last=0, removes=True),
        )


def test_changed_files_are_those_that_differ():
    one, other = {"a": "1", "b": "2", "gone": ""}, {"a": "1", "b": "3", "new": ""}
    assert changed_files(one, other) == ("b", "gone", "new")


def test_lines_are_counted():
    before, new = {"a": "1\n2\n", "gone": "x\ny\nz\n"}, {"a": "1\ntwo\nthree\n"}
    assert counted(hunks_of(before, new, ["a", "gone"]), before) == (2, 4)


def test_a_unified_diff_as_patch_reads_it():
    before = {"p/a.py": "1\n2", "p/gone.py": "x\n"}
    overlay = {"p/a.py": "1\n3", "p/gone.py": None, "p/new.py": "y\n"}
    assert unified(before, overlay) == (
        "--- a/p/a.py\n+++ b/p/a.py\n@@ -1,2 +1,2 @@\n 1\n-2\n\\ No newline at end of file\n"
        "+3\n\\ No newline at end of file\n"
        "--- a/p/gone.py\n+++ /dev/null\n@@ -1 +0,0 @@\n-x\n"
        "--- /dev/null\n+++ b/p/new.py\n@@ -0,0 +1 @@\n+y\n"
    )
