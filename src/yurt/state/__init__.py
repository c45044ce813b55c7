"""The state of the servers: tables, entries, apply. Pure: no I/O, no clock, no randomness."""
