"""The process that starts tasks; it imports the standard library alone, so that it stays small.

The agent runs this package on its own (`-I -S`, as a top-level package named `daemon`), which is why
its modules import each other by relative names only.
"""
