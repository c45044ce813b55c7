"""The simple dialect: a small snake_case REST API over the same commands and State as /v1."""
