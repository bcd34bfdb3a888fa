"""The folder of a project to values: each declaration is read, then what they say of each other."""

from treaty.pipeline.project.project_reader import read_project

__all__ = ["read_project"]
