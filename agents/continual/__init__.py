"""Continual learning (thesis, section 8.2): players that keep their social pool.

- ``pool``: pool files
- ``agent``: the agent that changes its strategy after a loss
"""
