"""The SQL store: tables, migrations, one writer, and the queries of each noun."""
