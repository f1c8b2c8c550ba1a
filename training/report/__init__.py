"""The report of a league: one HTML file that needs nothing else."""
