"""A pipeline project: its declarations, read from a folder of YAML and SQL files, and the contracts it uses."""

from treaty.pipeline.project.project_reader import read_project

__all__ = ["read_project"]
