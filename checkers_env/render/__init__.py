"""Pictures of a board: SVG, pixels and a window."""
