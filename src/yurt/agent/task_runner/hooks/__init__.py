"""The steps around a task's run, a file each."""
