"""Ratios measured in one run; nothing here is asserted."""
