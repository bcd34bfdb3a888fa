"""Data under contract from arrival to consumer: raw, events, products, reconciliation, publications."""
