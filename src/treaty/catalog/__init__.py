"""The catalog: what people see of the registry, on live pages and as a static site, from the same templates."""
