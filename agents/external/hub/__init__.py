"""The Hub protocol, both sides: an engine as an agent, and an agent as an engine."""
