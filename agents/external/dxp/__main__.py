"""``python -m agents.external.dxp``: the command line."""

import sys

from agents.external.dxp.cli import main

sys.exit(main())
