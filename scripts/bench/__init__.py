"""The speeds and sizes that the project promises, measured."""
