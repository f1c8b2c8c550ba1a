"""The bench: the main speeds, and how a change of the code changes them.

- ``speeds``: rows, each a speed beside its yardstick
- ``plain_search``: the yardstick of the search
- ``revisions``: another revision and this tree, measured in turns
- ``__main__``: the command, ``python -m training.bench``
"""
