"""Programs that are not ours: engines that speak a protocol, and our agents as such an engine."""
