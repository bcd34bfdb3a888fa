"""Consumers: subscriptions, the dependency graph, the impact of changes, and migration guides."""
