"""Profiles of the property tests: no deadline, because a loaded machine is no failure.

``pytest --hypothesis-profile thorough`` looks 30 times longer; ``mutation`` shows each mutant the same few examples.
"""

from hypothesis import HealthCheck, settings

SLOW_IS_NO_FAILURE = [HealthCheck.too_slow]

settings.register_profile("suite", deadline=None, max_examples=60, suppress_health_check=SLOW_IS_NO_FAILURE)
settings.register_profile("thorough", deadline=None, max_examples=2000, suppress_health_check=SLOW_IS_NO_FAILURE)
settings.register_profile("mutation", deadline=None, max_examples=10, derandomize=True, database=None)
settings.load_profile("suite")
