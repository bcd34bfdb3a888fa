"""Drawings: values with every coordinate in them, which templates write as SVG."""
