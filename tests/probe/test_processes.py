"""Processes die with their parent, and none outlives its trial: tried with real small processes."""

from __future__ import annotations

import os
import signal

import psutil
import pytest

from harness.probe import processes
from tests.probe.running import is_gone, python

pytestmark = pytest.mark.skipif(not psutil.LINUX, reason="without /proc and prctl the deadline has to do")

CHILDREN = """
import json, os, signal, sys, time
from harness.probe import processes

def fork(function):
    ready, done = os.pipe()
    pid = os.fork()
    if pid == 0:
        function(done)
        os.write(done, b"%d" % os.getpid())
        time.sleep(60)
        os._exit(0)
    return pid, int(os.read(ready, 20))
"""


class TestMemory:
    def test_it_grows_with_what_is_used(self):
        before, after = python(
            """
            import json, os
            from harness.probe.processes import memory_used
            before = memory_used(os.getpid())
            block = bytearray(50 * 2**20)
            block[::4096] = block[::4096]
            print(json.dumps([before, memory_used(os.getpid())]))
            """
        )
        assert before > 2**20
        assert after - before > 40 * 2**20

    def test_a_process_that_is_gone_uses_none(self):
        assert processes.memory_used(2**22 + 1) == 0


class TestDescendants:
    def test_children_and_their_children_are_found(self):
        found, expected = python(
            CHILDREN
            + """
def forks_again(done):
    inner = os.fork()
    if inner:
        os.write(done, b"%d" % inner)
    time.sleep(60)
    os._exit(0)
outer, grandchild = fork(forks_again)
print(json.dumps([sorted(processes.descendants()), sorted([outer, grandchild])]))
sys.stdout.flush()
processes.end_group(outer)
"""
        )
        assert found == expected

    def test_this_process_is_none_of_its_own(self):
        assert os.getpid() not in processes.descendants()


def test_a_group_is_ended_with_those_who_left_it():
    pids = python(
        CHILDREN
        + """
member, _ = fork(lambda done: os.setpgid(0, 0))
leaver, _ = fork(lambda done: os.setsid())
processes.end_group(member)
print(json.dumps([member, leaver]))
"""
    )
    assert all(map(is_gone, pids))


def test_a_group_that_is_gone_is_no_error():
    assert python("from harness.probe import processes; processes.end_group(2**22 + 1)") is None


def test_orphans_are_adopted_and_can_be_ended():
    orphan, adopted = python(
        CHILDREN
        + """
processes.adopt_orphans()
ready, done = os.pipe()
middle = os.fork()
if middle == 0:
    inner = os.fork()
    if inner:
        os.write(done, b"%d" % inner)
        os._exit(0)
    time.sleep(60)
    os._exit(0)
orphan = int(os.read(ready, 20))
os.waitpid(middle, 0)
print(json.dumps([orphan, processes.descendants()]))
sys.stdout.flush()
processes.end_group(middle)
"""
    )
    assert adopted == [orphan]
    assert is_gone(orphan)


class TestDyingWithTheParent:
    def test_the_signal_comes_when_the_parent_dies(self):
        received = python(
            CHILDREN
            + """
processes.adopt_orphans()
received, answers = os.pipe()
ready, done = os.pipe()
middle = os.fork()
if middle == 0:
    parent = os.getpid()
    if os.fork() == 0:
        signal.signal(signal.SIGTERM, lambda *_: (os.write(answers, b"SIGTERM"), os._exit(0)))
        processes.die_with(parent, signal.SIGTERM)
        os.write(done, b"ready")
        time.sleep(60)
        os._exit(0)
    os.read(ready, 5)
    os._exit(0)
print(json.dumps(os.read(received, 20).decode()))
"""
        )
        assert received == "SIGTERM"

    def test_a_parent_that_is_dead_already_ends_the_process(self):
        python("from harness.probe import processes; processes.die_with(2**22 + 1, 15)", code=71)


def test_ending_everything_kills_the_children_and_leaves_with_the_code_of_sigterm():
    pid = python(
        CHILDREN
        + """
signal.signal(signal.SIGTERM, processes.end_everything)
child, _ = fork(lambda done: signal.signal(signal.SIGTERM, signal.SIG_IGN))
print(json.dumps(child))
sys.stdout.flush()
os.kill(os.getpid(), signal.SIGTERM)
time.sleep(60)
""",
        code=128 + signal.SIGTERM,
    )
    assert is_gone(pid)
