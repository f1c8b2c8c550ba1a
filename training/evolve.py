"""Evolve checkers players as the papers did.

    python training/evolve.py [REGIME] [options]
    python training/evolve.py --list

Without a regime, blondie24-2001: 840 generations of the network with 91 sub-squares. A regime of
your own is file.py:PRESET, as in examples/own_regime.py:COMMA. The folder of a run holds a
checkpoint, the champion's weights, the performance curve (CSV and PNG) and what TensorBoard shows
(tensorboard --logdir runs).
"""

from __future__ import annotations

import sys

from training.trainer.cli import EVOLVE, TrainingCommand, run_program
from training.trainer.presets import DEFAULT


def main() -> int:
    """Run the command line; return the exit status."""
    return run_program(TrainingCommand(EVOLVE, __doc__ or "", DEFAULT))


if __name__ == "__main__":
    sys.exit(main())
