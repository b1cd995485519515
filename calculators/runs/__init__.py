"""Data: runs that were measured and published, one YAML file per publication."""
