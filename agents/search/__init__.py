"""The engine: one alpha-beta search for every evaluator."""
