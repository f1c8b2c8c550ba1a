"""Trainer of every regime.

- loop: configuration of a run, training loop
- checkpoint: one file a run
- presets: the papers' players, and ablations of two of them
- variants: presets with other constants, ``c0@opponents=10``
- cli: command line of evolve.py and td.py
"""
