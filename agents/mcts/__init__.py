"""Monte Carlo tree search: pure, and with playouts that an evaluator cuts short."""
