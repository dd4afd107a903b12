"""Where the world is touched: one folder per kind of thing.

May import the domain and the protocols of the jobs, never a job.
"""
