"""DXP (DamExchange Protocol), both sides of a connection.

- ``client``: a program that speaks DXP as an agent
- ``server``: games of an agent against other programs
- ``connection``: steps of a game that both sides share
- ``messages``: messages of the protocol
- ``cli``: the command line
"""
