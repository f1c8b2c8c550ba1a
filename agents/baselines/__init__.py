"""Players that have learnt nothing: random, the hand-made heuristic, and the piece count."""
