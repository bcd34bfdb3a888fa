"""The terms of a field, an object and a contract: what is read, and how two readings are compared.

A term's name leads to its kinds in the catalogue. Adding a term is one row here and one function there.
"""

from treaty.compatibility.terms.comparison import Term
from treaty.compatibility.terms.contract_terms import CONTRACT_TERMS, OBJECT_TERMS
from treaty.compatibility.terms.field_terms import FIELD_TERMS

__all__ = ["CONTRACT_TERMS", "FIELD_TERMS", "OBJECT_TERMS", "Term"]
