"""The SQL front end: parses, checks and analyses the SQL of contracts and of pipeline projects."""
