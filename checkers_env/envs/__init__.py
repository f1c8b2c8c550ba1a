"""The environments: PettingZoo's AEC, and many games at once."""
