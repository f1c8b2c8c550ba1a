"""Environments for one side of the game; an agent plays the other."""
