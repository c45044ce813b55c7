"""Files rendered for tasks from templates, and kept up to date."""
