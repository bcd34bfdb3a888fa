"""The catalog: HTML pages about the registry, served live or written as a static site, from the same templates."""
