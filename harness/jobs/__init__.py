"""What the program does: loops over the protocols. No click, no printing, no exit codes."""
