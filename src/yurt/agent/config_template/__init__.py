"""Driver config: `${…}` expressions evaluated strictly, so that a wrong name fails the task's start."""
