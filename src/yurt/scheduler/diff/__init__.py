"""Job diffs: what a submitted job changes, told field by field."""
