"""Who depends on what: subscriptions, the dependency graph, and whom a change hits."""
