"""Trainer of every regime.

- loop: configuration of a run, training loop
- checkpoint: one file a run
- presets: the papers' players
- variants: presets with other constants, ``c0@opponents=10``
- ablations: changes to the evolution of 2001, one at a time
- strong_ablations: the strong player without one ingredient at a time
- cli: command line of evolve.py and td.py
"""
