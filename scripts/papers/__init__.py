"""The parts of refresh_papers: what to ask arXiv for, what to keep of it, and in which order."""
