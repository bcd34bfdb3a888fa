"""The folder of a project to values: each declaration is read, then what they say of each other."""

from treaty.pipeline.reading.project import read_project

__all__ = ["read_project"]
