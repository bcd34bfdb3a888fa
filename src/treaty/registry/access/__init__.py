"""Access control: actors, permissions, tokens and OIDC."""
