"""The migrations, one file each; a released one never changes."""
