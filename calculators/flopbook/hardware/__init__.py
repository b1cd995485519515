"""Which claim of a quantity is shown, and chips, devices and systems with their values at hand."""
