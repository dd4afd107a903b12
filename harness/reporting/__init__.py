"""Reports: pure functions of a finding, in one folder per kind of answer.

They return text or tables; nothing is written or printed here.
"""
