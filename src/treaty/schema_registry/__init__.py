"""A schema registry for Kafka clients: subjects, versions, ids and compatibility, on the contracts of the registry."""
