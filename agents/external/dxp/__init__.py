"""DXP (DamExchange Protocol), both sides of a connection.

- ``messages``: messages of the protocol
- ``connection``: a connection, and the steps of a game that both sides share
- ``session``: another program as an agent, and games of an agent against programs
- ``cli``: the command line
"""
