"""The scheduler: a pure function from State and an evaluation to a plan."""
