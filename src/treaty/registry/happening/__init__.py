"""The activity feed: public entries of the audit log as sentences."""
