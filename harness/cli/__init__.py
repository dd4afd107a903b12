"""The command line: parse, make the request, call the job, print.

Nothing else; commands are loaded when they are called.
"""
