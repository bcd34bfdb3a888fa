"""The system of record of contracts."""
