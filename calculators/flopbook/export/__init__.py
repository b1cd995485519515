"""The data as records, tables and feeds for other programs."""
