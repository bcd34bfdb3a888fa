"""A comment on a pull or merge request: written once, then kept up to date."""

from treaty.cli.commenting.commenting import Became, Host, comment
from treaty.cli.commenting.finding import host_from

__all__ = ["Became", "Host", "comment", "host_from"]
