"""Signatures of a server: its key, and certificates that everybody can check offline."""
