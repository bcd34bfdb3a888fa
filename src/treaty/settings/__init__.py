"""Settings from `treaty.yaml` and environment variables, which take precedence."""

from treaty.settings.loader import DOCUMENTED, ENVIRONMENT, PROJECT_FILE, load_settings
from treaty.settings.model import Settings

__all__ = ["DOCUMENTED", "ENVIRONMENT", "PROJECT_FILE", "Settings", "load_settings"]
