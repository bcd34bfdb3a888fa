"""The pages, one file each: a function asks the registry and returns a page, ready to be drawn."""
