"""The process that answers the network. It holds no row, and imports nothing that reads one.

Questions are checked by planners, and answered by workers: other processes (`redveil.workers`).
"""
