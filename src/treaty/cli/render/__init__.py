"""Drawing results for people and for machines."""
