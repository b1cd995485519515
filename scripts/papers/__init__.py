"""The parts of `refresh_papers.py`: what to ask arXiv for, what to keep of the answer, and in which
order.
"""
