"""Who may do what: actors, the one table of rules, tokens and OIDC."""
