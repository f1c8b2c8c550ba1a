"""The papers' experiments: their jobs, their results, and the page that compares them.

- ``jobs``: training runs and matches, with their configurations
- ``tables``, ``table_text``: the papers' tables, rows of ``data/``; their Markdown
- ``measures``: columns of tables
- ``plan``: jobs and figures of tables
- ``scheduler``: order of the jobs, expected times, deadline
- ``session``: options of the command lines, deadline, progress on a terminal
- ``worker``: one job, as an executor runs it
- ``results``: results on disk
- ``result_rows``, ``json_lines``: lines of the result files, and the files
- ``champions``: weight files, named by their hash
- ``starting_point``: champions against generation 0
- ``league_results``: the zoo's leagues on disk
- ``claims``: conclusions of the papers and ours, rows of ``data/``
- ``effects``: one figure a seed or a pairing, by which a claim is judged
- ``crossed``: effects of all champions against all, and contrasts of players
- ``inference``: intervals, false discoveries, chi-squares
- ``verdicts``: claims judged over seeds
- ``sameness``: claims that players or runs are the same
- ``page``: the pages of tables and of verdicts in Markdown
- ``plots``: pictures of the pages
- ``comparison``: presets compared over several seeds
- ``regret``: what moves give away, by a strong judge
- ``cycles``: whether champions of one run beat each other in circles
- ``model_card``: the best seed of each player, model cards and the leaderboard
"""
