"""The oracle's turns, generated once a position."""

import pytest

from tests import oracle


@pytest.fixture(scope="module")
def known_turns():
    """Have the oracle generate the turns of a position once; yields what it knows.

    Evaluators and perspectives share the lines below a position, so that the slow oracle goes
    through them once for all, and not once for each.
    """
    plain, known = oracle.legal_turns, {}

    def legal_turns(side, pieces):
        key = (side, frozenset(pieces.items()))
        if key not in known:
            known[key] = plain(side, pieces)
        return known[key]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(oracle, "legal_turns", legal_turns)
        yield known
