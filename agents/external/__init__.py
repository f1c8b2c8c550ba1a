"""Players outside this program, and our agents as players for other programs.

- ``hub``: the Hub protocol
- ``dxp``: the DamExchange protocol
- ``policy``: policies of reinforcement learning
- ``openspiel``: bots of OpenSpiel
- ``llm``: language models behind a chat-completions server
- ``subprocess_agent``: an agent in a child process
- ``supervisor``: the process that runs and ends the child
- ``channel``: JSON lines between the processes
- ``codec``: boards and moves as JSON
- ``sockets``: the end of a connection that another thread waits for
- ``process``: a child process with line-based input and output
- ``errors``: errors of outside players
"""
