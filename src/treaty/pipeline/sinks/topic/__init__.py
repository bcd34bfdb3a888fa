"""Topics: the changes of a published table as Kafka records, each committed exactly once."""
