"""Reports of leagues and players.

- ``html_report``: the HTML page of a league
- ``standings``: the table of a league, and its verdict in one sentence
- ``charts``: scales, bars and number formats of the page
- ``games``: games packed for the page's viewer
- ``terminal``: tables on the terminal
- ``examination``: one player's opponents, time, determinism and accuracy in endings
- ``move_judge``: values of moves, by deep searches and endgame tables
- ``calibration``: how well values foretell results
"""
