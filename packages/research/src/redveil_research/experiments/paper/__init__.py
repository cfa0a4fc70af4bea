"""The tables and figures of the paper, made again, and some that it lacks.

M. Mihelčić and P. Miettinen, Differentially Private Tree-Based Redescription Mining (2022, arXiv
2212.06630). `redveil experiment` runs what is needed and writes the page. For data that is not
sensitive: journals and tables contain true values.
"""
