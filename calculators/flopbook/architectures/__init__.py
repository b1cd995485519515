"""The shapes of models, from our files or from a Hugging Face config."""
