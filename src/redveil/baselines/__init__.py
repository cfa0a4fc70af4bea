"""Redescription mining without privacy, for the data owner's comparison only."""
