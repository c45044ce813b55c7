"""The blocks of the configuration, one Struct each; their fields are the schema of the files."""
