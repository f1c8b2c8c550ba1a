"""Matches and leagues between agents: who plays whom, how games are played, and their record."""
