"""Training of checkers players: commands on this floor, their parts in packages.

- runtime: command lines, run folders, executors, curves, validation
- evolution: operators on populations, tournaments, metrics
- regimes: training methods of the papers, one file each
- trainer: training loop, checkpoints, presets
- rl: PPO in self-play
- league: games between agents; rating: Elo and tests; report: pages and tables
- reproduction: the papers' experiments and their results
- app: local web page
"""
