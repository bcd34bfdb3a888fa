"""Translation of RE2 patterns to java.util.regex, without patterns that could stall its backtracking engine."""
