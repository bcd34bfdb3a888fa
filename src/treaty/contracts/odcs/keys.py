"""Which key of an ODCS document is which attribute of the model; every other key is kept as it is in `more`."""

from __future__ import annotations

LATEST_API_VERSION = "v3.2.0"

CONTRACT = {
    "apiVersion": "api_version",
    "id": "id",
    "name": "name",
    "version": "version",
    "status": "status",
    "domain": "domain",
    "description": "description",
    "servers": "servers",
    "team": "team",
    "support": "support",
    "slaProperties": "sla",
    "authoritativeDefinitions": "authoritative_definitions",
    "customProperties": "custom_properties",
}
OBJECT = {
    "id": "id",
    "name": "name",
    "physicalName": "physical_name",
    "physicalType": "physical_type",
    "description": "description",
    "dataGranularityDescription": "granularity",
    "quality": "quality",
    "relationships": "relationships",
    "authoritativeDefinitions": "authoritative_definitions",
    "customProperties": "custom_properties",
}
FIELD = {
    "id": "id",
    "name": "name",
    "businessName": "business_name",
    "logicalType": "logical_type",
    "logicalTypeOptions": "options",
    "physicalType": "physical_type",
    "physicalName": "physical_name",
    "description": "description",
    "required": "required",
    "unique": "unique",
    "primaryKey": "primary_key",
    "primaryKeyPosition": "primary_key_position",
    "classification": "classification",
    "deprecated": "deprecated",
    "enum": "enum",
    "quality": "quality",
    "relationships": "relationships",
    "authoritativeDefinitions": "authoritative_definitions",
    "customProperties": "custom_properties",
}
