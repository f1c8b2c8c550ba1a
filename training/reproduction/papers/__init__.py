"""Tables of the papers, and tables of our own.

- ``thesis_ch3`` to ``thesis_ch8``: Al-Khateeb's thesis (2011), one file a chapter
- ``other_papers``: Skycak (2022) and Nguyen; saturation and random ties
- ``coevolution_ablations``: changes to the evolution of 2001
- ``strong_player``: the strong player and its ingredients
- ``seed_selection``: validation games that select the zoo's seeds
"""
