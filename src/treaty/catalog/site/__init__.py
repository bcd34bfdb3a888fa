"""The catalog as a static site: page groups, rendering, and writing the files that changed."""

from treaty.catalog.site.builder import BuildResult, Progress, build
from treaty.catalog.site.publisher import PublishTarget, publish

__all__ = ["BuildResult", "Progress", "PublishTarget", "build", "publish"]
