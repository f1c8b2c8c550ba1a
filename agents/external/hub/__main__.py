"""``python -m agents.external.hub``: an agent as a Hub engine."""

import sys

from agents.external.hub.server import main

sys.exit(main())
