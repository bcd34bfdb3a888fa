"""The lineage between the contracts of a project, by field, as its SQL computes it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from treaty.consumers.dependencies import DataLayer, FieldMapping, MadeFrom
from treaty.consumers.subscriptions import parse_fields
from treaty.contracts.paths import FieldPath, parse_path
from treaty.contracts.versions import Line
from treaty.errors import InvalidDocument
from treaty.pipeline.plan.planner import Plan
from treaty.pipeline.plan.steps import Step
from treaty.pipeline.project.declarations import Declared, Jdbc, Layer, Product, Project, Source, layer_of
from treaty.pipeline.project.project_sql import event_columns, parse_expression, parse_query
from treaty.sql.lineage import Origin, Origins, column_filters, filter_fields, origins

_PLATFORM_PREFIX = "_"
"""Columns that the pipeline adds, such as the time of arrival, are no fields of a contract."""


def contract_lineage(plan: Plan) -> dict[Line, tuple[MadeFrom, ...]]:
    """Return what each line of a project is derived from; a step whose SQL cannot be parsed is left out."""
    lines = {declared.name: declared.line for declared in plan.project}
    result: dict[Line, tuple[MadeFrom, ...]] = {}
    for step in plan.steps:
        columns = plan.lineage.get(step.name)
        if columns is None or step.declared in plan.project.sources:
            continue
        try:
            filters = row_filters(plan, step).union(*filters_by_column(step).values())
        except InvalidDocument:
            continue
        used = frozenset().union(filters, *columns.values())
        result[lines[step.name]] = tuple(
            _made_from(lines[step.name], lines[name], name, columns, filters)
            for name in sorted({origin.input for origin in used if origin.input in lines})
            if lines[name] != lines[step.name]
        )
    return result


def data_layers(project: Project) -> dict[Line, DataLayer]:
    """Return the layer of each line of a project; of several, the one that is furthest downstream."""
    return {declared.line: _data_layer(declared) for declared in project}


def _data_layer(declared: Declared) -> DataLayer:
    if isinstance(declared, Source):
        return DataLayer.CHANGE_FEED if declared.change_feed or isinstance(declared.origin, Jdbc) else DataLayer.RAW
    return _DATA_LAYERS[layer_of(declared)]


_DATA_LAYERS = {
    Layer.PRODUCTS: DataLayer.PRODUCT,
    Layer.RECONCILIATION: DataLayer.RECONCILIATION,
    Layer.PUBLICATIONS: DataLayer.PUBLICATION,
}


def filters_by_column(step: Step) -> dict[str, Origins]:
    """Return the input fields that filter what a column of a step is computed from, such as those of EXISTS."""
    return {
        column: fields
        for query in step.queries
        for column, fields in column_filters(parse_query(query.sql, query.reads)).items()
        if fields
    }


def row_filters(plan: Plan, step: Step) -> Origins:
    """Return the input fields that decide which rows a step has."""
    fields = [filter_fields(parse_query(query.sql, query.reads)) for query in step.queries]
    if isinstance(step.declared, Product) and step.declared.deleted_when is not None:
        fields += [_used_by_condition(plan, step.declared.deleted_when, name) for name in step.declared.sources]
    return frozenset().union(*fields)


def _used_by_condition(plan: Plan, sql: str, source: str) -> Origins:
    events = next(step for step in plan.steps if (step.name, step.layer) == (source, Layer.EVENTS))
    condition = parse_expression(sql, source, {"": event_columns(events.contract)})
    return frozenset(Origin(source, origin.column) for origin in origins(condition))


def _made_from(line: Line, upstream: Line, name: str, columns: Mapping[str, Origins], filters: Origins) -> MadeFrom:
    mappings = tuple(
        FieldMapping(parse_path(column), sources)
        for column in columns
        if (sources := _fields(origin for origin in columns[column] if origin.input == name))
    )
    return MadeFrom(line, upstream, _fields(origin for origin in filters if origin.input == name), mappings)


def _fields(used: Iterable[Origin]) -> tuple[FieldPath, ...]:
    return parse_fields(tuple(origin.column for origin in used if not origin.column.startswith(_PLATFORM_PREFIX)))
