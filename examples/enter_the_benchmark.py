"""Enter the benchmark: my_agent.py meets two built-in players, a game with each colour.

Without --openings start it is 86 games a pair, from the ballot; the page shows all of them.
"""

import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
command = [
    *(sys.executable, str(HERE.parent / "training" / "benchmark.py")),
    *(f"{HERE / 'my_agent.py'}:MyAgent", "--against", "random", "material@depth=1"),
    *("--openings", "start", "--out", "runs/my-agent"),
]
subprocess.run(command, check=True)
print("Look at runs/my-agent/report.html")
