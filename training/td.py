"""Train n-tuple systems by temporal differences.

    python training/td.py [PLAYER] [options]
    python training/td.py --list

Without a player, c5-n0.001: 126,000 games of self-play of 32 random-walk 5-tuples, alpha 0.001. A
generation is 1,000 games. The player strong learns a small network from searches of its own games,
in hours, with generations of 4,000 games. The folder of a run holds a checkpoint, the weights, the
performance curve (CSV and PNG) and what TensorBoard shows (tensorboard --logdir runs).
"""

from __future__ import annotations

import sys

from training.trainer.cli import TD, TrainingCommand, run_program
from training.trainer.presets import TD_DEFAULT


def main() -> int:
    """Run the command line; return the exit status."""
    return run_program(TrainingCommand(TD, __doc__ or "", TD_DEFAULT))


if __name__ == "__main__":
    sys.exit(main())
