"""N-tuple systems: sums of look-up table entries, evolved or learnt by temporal differences."""
