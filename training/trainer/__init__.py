"""Trainer of every regime.

- loop: configuration of a run, training loop
- checkpoint: one file a run, and the reader of the format before
- presets: the papers' players; ablations, strong_ablations: one constant changed at a time
- cli: command line of evolve.py and td.py
"""
