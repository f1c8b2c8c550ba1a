"""Evolved networks of 1999 and 2001.

- ``architecture``: layouts, genomes and the forward pass in numpy
- ``network``: the evaluator in kernels
"""
