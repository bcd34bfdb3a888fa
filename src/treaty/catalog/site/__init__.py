"""The catalog as a folder of files: the pages there are, drawing them, and writing those that changed."""

from treaty.catalog.site.builder import BuildResult, Progress, build
from treaty.catalog.site.publisher import PublishTarget, publish

__all__ = ["BuildResult", "Progress", "PublishTarget", "build", "publish"]
