"""The papers' experiments: what is trained and played for each table, and the records of it."""
