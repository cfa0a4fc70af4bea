"""What travels between a server and its clients: paths, scopes, questions, answers, problems.

Version 1 of the interface. Fields are added, never changed or taken away; another version gets
another prefix.
"""
