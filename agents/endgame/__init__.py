"""Endgame tables: the value and length of every ending of few pieces, computed and looked up."""
