"""A schema as a form in the browser, served on this machine to whoever has its address.

The form shows public declarations, and no data: nothing here can read a table.
"""
