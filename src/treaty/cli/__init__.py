"""The command line: commands in `commands/`, rendering in `render/`, git access in `git/`."""
