"""Generated values that satisfy the terms of a field, reproducible by a seed."""
