"""A branch in git, a registry and files on disk, for the review that judges them."""
