"""Drawing migrations: the way over, the guides, the proof, and where everybody stands."""
