"""The `yurt` command line: a table of commands over the HTTP API."""
