"""One module per command or group: a function named after the command, or an `app` with its subcommands.

Imports that cost time stay inside the functions, so that a command starts quickly.
"""
