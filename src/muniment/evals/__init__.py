"""How good the retrieval is: public data sets with gold, asked through the façade, and scored.

`dataset` says what a data set is, `load` reads those known, `ask` appends and recalls,
`metrics` and `statistics` are pure, `report` makes the result, `compare` two of them.
"""
