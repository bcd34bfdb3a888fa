"""What the registry answers: the same values from a local registry, over HTTP and on the command line."""

from treaty.registry.answers.access import AuditAnswer, AuditCheckAnswer, BreakAnswer, MintedAnswer, TokenAnswer
from treaty.registry.answers.activity import ActivityAnswer, TeamAnswer, UpcomingAnswer
from treaty.registry.answers.answer import Answer, Page
from treaty.registry.answers.consumers import (
    AffectedAnswer,
    DecisionAnswer,
    GraphAnswer,
    ImpactAnswer,
    NodeAnswer,
    ReasonAnswer,
    SubscriptionAnswer,
)
from treaty.registry.answers.contracts import (
    ChangeAnswer,
    ContractAnswer,
    DiffAnswer,
    DocumentAnswer,
    LineAnswer,
    OverviewAnswer,
    OwnerAnswer,
    Registration,
    StepAnswer,
    VersionAnswer,
)
from treaty.registry.answers.governance import (
    ChildAnswer,
    PolicyCheckAnswer,
    ProposalAnswer,
    ViolationAnswer,
    WaiverAnswer,
)
from treaty.registry.answers.maps import (
    DomainAnswer,
    DomainEdgeAnswer,
    DomainsAnswer,
    MapAnswer,
    MapEdgeAnswer,
    MapNodeAnswer,
)
from treaty.registry.answers.measures import DayAnswer, GridRowAnswer, MeasureAnswer, RecordedAnswer
from treaty.registry.answers.migrations import (
    BoardAnswer,
    MigrationAnswer,
    MigrationConsumerAnswer,
    MigrationPathAnswer,
)
from treaty.registry.answers.notices import ChannelAnswer, DeliveryAnswer, NoticeAnswer

__all__ = [
    "ActivityAnswer",
    "AffectedAnswer",
    "Answer",
    "AuditAnswer",
    "AuditCheckAnswer",
    "BoardAnswer",
    "BreakAnswer",
    "ChangeAnswer",
    "ChannelAnswer",
    "ChildAnswer",
    "ContractAnswer",
    "DayAnswer",
    "DecisionAnswer",
    "DeliveryAnswer",
    "DiffAnswer",
    "DocumentAnswer",
    "DomainAnswer",
    "DomainEdgeAnswer",
    "DomainsAnswer",
    "GraphAnswer",
    "GridRowAnswer",
    "ImpactAnswer",
    "LineAnswer",
    "MeasureAnswer",
    "MapAnswer",
    "MapEdgeAnswer",
    "MapNodeAnswer",
    "MigrationAnswer",
    "MigrationConsumerAnswer",
    "MigrationPathAnswer",
    "MintedAnswer",
    "NodeAnswer",
    "NoticeAnswer",
    "OverviewAnswer",
    "OwnerAnswer",
    "Page",
    "PolicyCheckAnswer",
    "ProposalAnswer",
    "ReasonAnswer",
    "RecordedAnswer",
    "Registration",
    "StepAnswer",
    "SubscriptionAnswer",
    "TeamAnswer",
    "TokenAnswer",
    "UpcomingAnswer",
    "VersionAnswer",
    "ViolationAnswer",
    "WaiverAnswer",
]
