"""The node agent: finds out what a machine offers, and runs the allocations placed on it."""
