"""The client of a server: data sets with the methods of local ones.

It knows what travels (`wire`) and what was released (`report`), and nothing that touches a row.
"""
