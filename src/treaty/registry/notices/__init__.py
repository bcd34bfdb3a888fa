"""Notices on their way out: channels, the outbox, and the courier that empties it."""
