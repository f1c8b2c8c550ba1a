"""The papers' experiments: their jobs, their results, and the page that compares them.

- ``jobs``: training runs and matches, with their configurations
- ``papers``: the papers' tables
- ``plan``: jobs and figures of tables
- ``scheduler``: order of the jobs, expected times, deadline
- ``session``: options of the command lines, deadline, progress on a terminal
- ``worker``: one job, as an executor runs it
- ``results``: results on disk
- ``result_rows``, ``json_lines``: lines of the result files, and the files
- ``champions``: weight files, named by their hash
- ``starting_point``: champions against generation 0
- ``league_results``: the zoo's leagues on disk
- ``tables``, ``table_text``: tables and their measures; their Markdown
- ``claims``: what a claim is, and the paper's own effect
- ``paper_claims``, ``own_claims``: conclusions of the papers, and ours
- ``effects``: one figure a seed, by which a claim is judged
- ``crossed``: effects of all champions against all, and contrasts of players
- ``inference``: intervals, equivalence, false discoveries, power
- ``verdicts``, ``claim_text``: claims judged over seeds; their Markdown
- ``page``: the pages of tables and of verdicts in Markdown
- ``plots``: pictures of the pages
- ``paper_notes``: players said to be the same, and what cannot be repeated
- ``comparison``: presets compared over several seeds
- ``model_card``: the best seed of each player, model cards and the leaderboard
"""
