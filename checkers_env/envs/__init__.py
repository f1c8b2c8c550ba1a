"""Environments.

aec             one game for two agents (PettingZoo)
checked         the checks of env(): illegal actions, and calls in the wrong order
vector          many games at once (Gymnasium)
cuda            many games at once on a CUDA device
vector_kernels  the state of many games, and the kernels that step them
single_agent    one game against an opponent (Gymnasium)
opponents       opponents as users give them
registration    names for pettingzoo.make and gymnasium.make
"""
