"""Programs that run a file of tests in the target environment; each is started as a script of its own.

They leave with 0 where a test passed, 1 where one failed, 125 where none was run, and 2 to 5 where the file itself
cannot be run.
"""
