"""The catalog as a folder of files: the pages there are, drawing them, and writing those that changed."""

from treaty.catalog.site.building import Built, Progress, build
from treaty.catalog.site.publishing import Publishing, publish

__all__ = ["Built", "Progress", "Publishing", "build", "publish"]
