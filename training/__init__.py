"""Training of checkers players: commands on this floor, their parts in packages.

- evolve: evolve players
- td: train n-tuple networks by temporal differences
- ppo: train a policy by MaskablePPO
- benchmark: rate agents in a league
- compare: change one constant of a preset
- reproduce: the papers' tables and claims
- continual: the continual player against its frozen twin
- zoo: fill the zoo with trained players

- runtime: command lines, run folders, executors, curves, validation
- evolution: operators on populations, tournaments, metrics
- regimes: training methods of the papers, one file each
- trainer: training loop, checkpoints, presets
- rl: PPO in self-play
- bench: main speeds, and how a change of the code changes them
- league: games between agents
- rating: Elo and statistical tests
- report: pages and tables of leagues
- experiments: the papers' experiments and their results
- app: local web page
"""

import agents

if not hasattr(agents, "PlayerAgent"):  # another distribution's, or a folder of the user
    raise SystemExit(f"error: {agents!r} hides this project's agents: rename or uninstall it")
