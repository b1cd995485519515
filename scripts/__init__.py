"""What builds and keeps the project: each module runs as `python -m scripts.NAME`."""
