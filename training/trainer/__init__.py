"""Training: the loop, checkpoints, presets and the command line."""
