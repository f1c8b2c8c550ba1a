"""Web application: play agents, compare two of them, explain evaluators, watch evolution.

serve                command line ``checkers-play`` and its server
app                  the application with all routes
security             checks of each request, and headers of each response
request_body         type checks of a request's JSON fields
templates            HTML pages
pages                pages whose games are the browser's own
agent_catalog        agents on offer, with their limits
opponents            named opponents, each with a story and a strength
agent_pool           agents of games, with their memory
analysis             analysis and explanation of positions by agents
async_agent          analysis in a worker thread
archive              finished games as PDN, and ratings by them
preparation          kernels of the first opponents and the judge, and endgame tables, at the start
puzzle_finder        command that finds puzzles in games of the zoo, and writes their file
runs_page            page "Evolution"
run_reader           measurements of a run's folder
generation_replay    games of a run's current generation
champion_games       games between the champions that a run has kept
run_launcher         small runs that the page starts
static_site          the pages as a folder of files, with an engine in JavaScript
"""
