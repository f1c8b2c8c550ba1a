"""What the games of a match or a league say of the players' strengths."""
