"""HTTP: dialects, blocking queries, errors. Thin: parse, authorise, call a command, render."""
