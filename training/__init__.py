"""Training: the evolutionary regimes of the papers, and the loop that runs them."""
