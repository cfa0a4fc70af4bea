"""The experiments behind the documentation, through the public API. For data that is not sensitive.

Data folders are arguments: `python -m redveil_research.experiments.worth DATA`.
"""
