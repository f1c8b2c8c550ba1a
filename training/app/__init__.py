"""The web page: play against the agents, watch two of them, look inside, watch evolution."""
