"""Charts and graphs as values with coordinates, which templates write as SVG."""
