"""Tables of the papers, and tables of our own.

- ``thesis_ch3``: Al-Khateeb's thesis (2011), chapter 3: ten runs of C0
- ``thesis_ch4``: chapter 4: the round robin
- ``thesis_ch5``: chapter 5: individual and social learning
- ``thesis_ch6``: chapter 6: n-tuple networks
- ``evolved_tuples``: chapter 6: readings of evolved n-tuples; temporal differences by depth
- ``thesis_ch7``: chapter 7: the piece difference, and the depth of training
- ``thesis_ch8``: chapter 8: the ranking
- ``other_papers``: Skycak (2022) and Nguyen; saturation and random ties
- ``tie_rules``: the choice between equal moves, their order, lines that end at a jump, tanh
- ``coevolution_ablations``: changes to the evolution of 2001
- ``strong_player``: the strong player and its ingredients
- ``seed_selection``: validation games that select the zoo's seeds
"""
