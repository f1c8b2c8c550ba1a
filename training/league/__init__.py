"""Matches and leagues between agents.

- ``schedule``: openings, pairings and fixtures
- ``entrants``: agents that enter a league, made from their texts
- ``game``: one game, and forfeits
- ``adjudicate``: winners for drawn games
- ``runner``: the games of a league on threads
- ``journal``: the games on disk while the league runs, and their replay
- ``records``: entrants, games and leagues as data, as JSON and as PDN
"""
