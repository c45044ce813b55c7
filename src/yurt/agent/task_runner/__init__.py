"""One task on its node: prepared, started, watched, restarted, killed."""
