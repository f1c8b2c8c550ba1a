"""Pictures of a board.

scene   a position as shapes
raster  shapes as pixels
svg     shapes as SVG
window  a window on the screen
"""
