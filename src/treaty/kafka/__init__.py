"""Kafka: a local broker, and connections of a project to brokers."""
