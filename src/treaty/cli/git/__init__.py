"""Access to git: the repository, the base of a branch, and the files that a branch changes."""
