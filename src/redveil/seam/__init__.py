"""What redveil-research uses of redveil besides its public names, and nobody else uses.

`truth`, `walks` and `neighbours` are for whoever owns the data, or made it up: nothing there is
private. `commands`, `queries` and `results` are the parts that its commands and files are made of,
and hold no data. An import contract keeps redveil-research to these and to the public names.
"""
