"""The regimes of the papers: a file each, which reads like the method section it implements."""
