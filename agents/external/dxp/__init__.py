"""DXP (DamExchange Protocol), both sides of a connection."""
