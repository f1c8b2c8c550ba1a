"""Operators on populations of players."""
