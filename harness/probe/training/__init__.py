"""Trains a case in the target environment and reads what it left: devices, variables, metrics, the canary."""
