"""The evolved networks of 1999 and 2001."""
