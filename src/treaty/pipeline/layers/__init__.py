"""The layers as functions of DataFrames: they describe the rows of a layer and never read or write tables."""
