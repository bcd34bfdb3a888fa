"""Alembic's home: what it runs, and the migrations in their order."""
