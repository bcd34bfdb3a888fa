"""Actions that users start from a page: each has a form, the facts to know first, and one call to the registry."""

from treaty.catalog.actions.incident_actions import INCIDENT_ACTIONS
from treaty.catalog.actions.legacy_actions import LEGACY_ACTIONS
from treaty.catalog.actions.lifecycle import LIFECYCLE_ACTIONS
from treaty.catalog.actions.migration_actions import MIGRATION_ACTIONS, PROPOSAL_ACTIONS
from treaty.catalog.actions.page_action import ActionSubject, FormField, FormValues, PageAction
from treaty.catalog.actions.subscriptions import SUBSCRIPTION_ACTIONS

ACTIONS: dict[str, PageAction] = {
    action.name: action
    for action in (
        *LIFECYCLE_ACTIONS,
        *SUBSCRIPTION_ACTIONS,
        *MIGRATION_ACTIONS,
        *PROPOSAL_ACTIONS,
        *INCIDENT_ACTIONS,
        *LEGACY_ACTIONS,
    )
}
"""Every action, by its name in the URL."""

__all__ = ["ACTIONS", "ActionSubject", "FormField", "FormValues", "PageAction"]
