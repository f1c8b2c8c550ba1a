"""The Hub protocol, both sides.

- ``client``: an engine as an agent
- ``server``: an agent as an engine
- ``commands``: arguments of commands
- ``notation``: lines, positions and moves as text
"""
