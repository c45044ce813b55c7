"""Services of tasks: how others find them, and whether they work."""
