"""Words that no column is called without quotes, in one dialect or another."""

from __future__ import annotations

_WORDS = """
    all alter analyse analyze and any array as asc authorization between both by case cast check collate column
    comment constraint create cross current current_date current_time current_timestamp current_user database
    default deferrable delete desc describe distinct do drop else end escape except exclude exists extract false
    fetch filter first following for foreign from full function global grant group having if ignore ilike in index
    initially inner insert interval intersect into is join key language lateral leading left like limit local
    localtime localtimestamp map merge natural new not null nulls of offset old on only option options or order
    outer over overlaps partition percent pivot position preceding primary properties qualify range references
    replace returning right row rows sample schema select session_user set show some start struct symmetric system
    table tablesample then time timestamp to trailing trigger true truncate try_cast unbounded union unique unnest
    unpivot update user using values variadic view when where window with within
"""
RESERVED = frozenset(_WORDS.split())
