"""Cost of evolution as the work grows.

- curves: measured cost against plies, games, population, weights and workers
- cluster: simulation of a cluster from measured costs
- page: tables and pictures of both
"""
