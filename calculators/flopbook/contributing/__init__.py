"""New entries, vendors, references and calculators, and where each thing is written."""
