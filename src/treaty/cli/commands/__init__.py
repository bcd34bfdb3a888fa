"""The commands, one file each; each has a function `run`."""
