"""From facts to good, bad or skip: pure functions of the observation, its reference and the case.

Nothing else judges.
"""
