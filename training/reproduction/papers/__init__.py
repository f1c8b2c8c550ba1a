"""The tables of the papers, a file each."""
