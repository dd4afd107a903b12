"""What follows from the record of nights: status, alerts, what to publish.

Folds over records; the clock is an argument.
"""
