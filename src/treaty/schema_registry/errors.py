"""Errors as clients of schema registries know them: a status and a number, with a message."""

from __future__ import annotations

from treaty.errors import TreatyError


class SchemaRegistryError(TreatyError):
    """An error with the number that clients act on; the first three digits are the status."""

    def __init__(self, code: int, message: str) -> None:
        super().__init__(message)
        self.code = code

    @property
    def status(self) -> int:
        """The HTTP status."""
        return self.code if self.code < 1_000 else self.code // 100


def subject_not_found(subject: object) -> SchemaRegistryError:
    """Return the error for a subject without versions."""
    return SchemaRegistryError(40401, f"Subject '{subject}' not found.")


def version_not_found(version: object) -> SchemaRegistryError:
    """Return the error for a version that a subject does not have."""
    return SchemaRegistryError(40402, f"Version {version} not found.")


def schema_not_found(identity: object = "") -> SchemaRegistryError:
    """Return the error for a schema that is not registered."""
    return SchemaRegistryError(40403, f"Schema {identity} not found" if identity != "" else "Schema not found")


def subject_soft_deleted(subject: object) -> SchemaRegistryError:
    """Return the error for deleting a subject twice."""
    return SchemaRegistryError(40404, f"Subject '{subject}' was soft deleted. Set permanent=true to delete permanently")


def subject_not_soft_deleted(subject: object) -> SchemaRegistryError:
    """Return the error for deleting a subject permanently that is in use."""
    return SchemaRegistryError(40405, f"Subject '{subject}' was not deleted first before being permanently deleted")


def version_soft_deleted(subject: object, version: int) -> SchemaRegistryError:
    """Return the error for deleting a version twice."""
    return SchemaRegistryError(
        40406, f"Subject '{subject}' Version {version} was soft deleted. Set permanent=true to delete permanently"
    )


def version_not_soft_deleted(subject: object, version: int) -> SchemaRegistryError:
    """Return the error for deleting a version permanently that is in use."""
    return SchemaRegistryError(
        40407, f"Subject '{subject}' Version {version} was not deleted first before being permanently deleted"
    )


def no_own_compatibility(subject: object) -> SchemaRegistryError:
    """Return the error for a subject without a configuration of its own."""
    return SchemaRegistryError(40408, f"Subject '{subject}' does not have subject-level compatibility configured")


def no_own_mode(subject: object) -> SchemaRegistryError:
    """Return the error for a subject without a mode of its own."""
    return SchemaRegistryError(40409, f"Subject '{subject}' does not have subject-level mode configured")


def invalid_schema(reason: str) -> SchemaRegistryError:
    """Return the error for a text that is not a schema."""
    return SchemaRegistryError(42201, f"Invalid schema: {reason}")


def invalid_version(version: object) -> SchemaRegistryError:
    """Return the error for a text that is not a version."""
    return SchemaRegistryError(
        42202,
        f"The specified version '{version}' is not a valid version id. "
        'Allowed values are between [1, 2^31-1] and the string "latest"',
    )


def invalid_level(level: object, allowed: str) -> SchemaRegistryError:
    """Return the error for an unknown compatibility level."""
    return SchemaRegistryError(42203, f"Invalid compatibility level {level!r}. Valid values are {allowed}")


def invalid_mode(mode: object, allowed: str) -> SchemaRegistryError:
    """Return the error for an unknown mode."""
    return SchemaRegistryError(42204, f"Invalid mode {mode!r}. Valid values are {allowed}")


def not_permitted(reason: str) -> SchemaRegistryError:
    """Return the error for an operation that the mode or the life cycle does not permit."""
    return SchemaRegistryError(42205, reason)


def reference_exists(subject: object, version: int) -> SchemaRegistryError:
    """Return the error for deleting a version that others refer to."""
    return SchemaRegistryError(
        42206, f"One or more references exist to the schema {{subject={subject},version={version}}}."
    )


def other_id(identity: int) -> SchemaRegistryError:
    """Return the error for registering a schema by an id that it or another schema does not have."""
    return SchemaRegistryError(42207, f"Schema already registered with id {identity} instead of input id")


def invalid_subject(subject: object) -> SchemaRegistryError:
    """Return the error for a name that no subject may have."""
    return SchemaRegistryError(42208, f"The specified subject '{subject}' is not a valid subject.")


def incompatible(subject: object, messages: list[str]) -> SchemaRegistryError:
    """Return the error for a schema that does not fit the earlier ones."""
    details = ", ".join(messages)
    return SchemaRegistryError(
        409,
        f'Schema being registered is incompatible with an earlier schema for subject "{subject}", details: [{details}]',
    )
