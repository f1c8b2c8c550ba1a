"""MaskablePPO in self-play: needs torch and the extra `sb3`."""
