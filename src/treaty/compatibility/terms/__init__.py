"""The terms of fields, objects and contracts: how each is read and compared.

The name of a term leads to its kinds. To add a term, add one row to a table here and one function to `kinds`.
"""

from treaty.compatibility.terms.comparison import Term
from treaty.compatibility.terms.contract_terms import CONTRACT_TERMS, OBJECT_TERMS
from treaty.compatibility.terms.field_terms import FIELD_TERMS

__all__ = ["CONTRACT_TERMS", "FIELD_TERMS", "OBJECT_TERMS", "Term"]
