"""Which files of a repository are foreign schemas."""

from __future__ import annotations

import pytest

from treaty.formats import detect_format

SCHEMA = '{"$schema": "https://json-schema.org/draft/2020-12/schema", "type": "object", "properties": {}}'
STRUCT = '{"fields": [{"name": "a", "nullable": true, "type": "string"}], "type": "struct"}'
MODELS = "version: 2\n\nmodels: # ours\n\n  - name: orders\n"


@pytest.mark.parametrize(
    ("path", "text", "name"),
    [
        ("events/order.avsc", '{"type": "record"}', "avro"),
        ("proto/Order.PROTO", "message Order {}", "protobuf"),
        ("db/001_init.sql", "BEGIN;\nCREATE TABLE IF NOT EXISTS a.b (id INT);", "sql"),
        ("db/x.sql", "create or replace transient table t (\n id int)", "sql"),
        ("db/x.ddl", "CREATE EXTERNAL TABLE t (id int)", "sql"),
        ("schemas/order.json", SCHEMA, "json-schema"),
        ("schemas/order.schema.json", '{"type": "object", "properties": {}}', "json-schema"),
        ("schemas/types.schema.json", '{"$defs": {}}', "json-schema"),
        (
            "schemas/name.json",
            '{"$schema": "http://json-schema.org/draft-07/schema#", "type": "string"}',
            "json-schema",
        ),
        ("schemas/order.yaml", "$schema: https://json-schema.org/draft/2020-12/schema\nproperties: {}", "json-schema"),
        ("models/schema.yml", MODELS, "dbt"),
        ("api/orders.yaml", "# ours\nopenapi: 3.0.3\ninfo: {}\npaths:\n  /a: {}\n", "openapi"),
        ("events/orders.yaml", "asyncapi: '2.6.0'\nchannels: {}\n", "asyncapi"),
        ("events/orders.json", '{"asyncapi": "3.0.0", "channels": {}}', "asyncapi"),
        ("api/orders.json", '{"openapi": "3.1.0", "paths": {"/a": {}}}', "openapi"),
        ("api/orders.json", '{\n  "info": {},\n  "openapi": "3.1.0",\n  "paths": {"$schema": 1}}', "openapi"),
        ("tables/orders.json", STRUCT, "spark"),
        ("tables/orders.schema.json", STRUCT, "spark"),
    ],
)
def test_a_foreign_schema_is_told_by_name_and_content(path: str, text: str, name: str) -> None:
    found = detect_format(path, text)

    assert found is not None
    assert found.name == name


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("orders.yaml", "apiVersion: v3.2.0\nkind: DataContract\nid: orders\nmodels:\n  - name: x\n"),
        ("orders.json", '{"apiVersion": "v3.2.0",\n"kind": "DataContract",\n"properties": 1}'),
        ("orders.schema.json", '{\n  "dataset_id": "orders",\n  "properties": {}\n}'),
        ("orders.yml", "dataset_id: orders\nfields: []\n"),
        ("package.json", '{"name": "shop", "type": "module"}'),
        ("settings.json", '{"$schema": "https://json.schemastore.org/eslintrc", "properties": {}}'),
        ("dbt_project.yml", "name: shop\nmodels:\n  shop:\n    +materialized: table\n"),
        ("models/orders.sql", "select * from {{ ref('raw_orders') }}"),
        ("migrations/002.sql", "INSERT INTO t (a) VALUES ('create table x')"),
        ("db/copy.sql", "CREATE TABLE copy AS SELECT 1;"),
        ("empty.avsc", ""),
        ("models.py", "from pydantic import BaseModel"),
        ("swagger.yaml", "swagger: '2.0'\npaths: {}\n"),
        ("chart.yaml", "openapi: enabled\npaths: {}\n"),
        ("README.md", "CREATE TABLE t (a int)"),
    ],
)
def test_contracts_and_other_files_are_none(path: str, text: str) -> None:
    assert detect_format(path, text) is None
