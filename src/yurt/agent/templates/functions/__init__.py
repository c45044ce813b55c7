"""The functions that templates of job files may call, besides the language's own."""
