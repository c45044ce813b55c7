"""Files that are fetched for tasks before they start."""
