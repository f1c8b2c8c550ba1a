"""Players outside this program, and our agents as players for other programs.

- ``hub``: the Hub protocol
- ``dxp``: the DamExchange protocol
- ``policy``: policies of reinforcement learning
- ``openspiel``: bots of OpenSpiel
- ``llm``: language models behind a chat-completions server
- ``subprocess_agent``: an agent in a child process
- ``supervisor``: the process that runs and ends the child
- ``channel``: messages over a socket or pipes, each with a time limit
- ``process``: a child process with line-based input and output
"""
