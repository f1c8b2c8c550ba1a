"""Reports of leagues and players.

- ``html_report``: the HTML page of a league
- ``verdict``: the result of a league as one sentence
- ``standings``: the table of a league
- ``charts``: scales, bars and number formats of the page
- ``games``: games packed for the page's viewer
- ``terminal``: tables on the terminal
- ``player_analysis``: time, determinism and endgame accuracy of a player
- ``calibration``: how well values foretell results
- ``player_report``: the examination of one player
"""
