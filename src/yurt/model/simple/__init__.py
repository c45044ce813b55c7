"""The simple dialect: what its small snake_case documents mean in the model, and back."""
