"""Disk, network, processes and other services: one folder per kind, one module per service.

May import the domain and the protocols of the jobs, never a job. Inside it, storage comes first, then index, processes,
environments and trials; each may import those before it.
"""
