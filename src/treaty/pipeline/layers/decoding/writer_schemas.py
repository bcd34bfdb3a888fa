"""Writers' schemas as values: what a schema id stands for, and whether its values can be decoded."""

from __future__ import annotations

from dataclasses import dataclass

from treaty.pipeline.layers.decoding.decoded_rows import Failure, failure_rule
from treaty.spark.rules import Rule


@dataclass(frozen=True)
class WriterSchema:
    """A writer's schema: usable, or with the reason why its values are quarantined."""

    text: str = ""
    """An Avro schema with all its references inlined."""
    descriptors: bytes = b""
    """The files of a Protobuf schema as a serialized FileDescriptorSet, the file of the schema last."""
    failure: Failure | None = None
    why: str = ""

    @property
    def rule(self) -> Rule | None:
        """The rule that values of an unusable schema violate."""
        return None if self.failure is None else failure_rule(self.failure, self.why)
