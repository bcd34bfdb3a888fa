"""The terms of a field, an object and a contract: what is read, and how two readings are compared.

A term's name leads to its kinds in the catalogue. Adding a term is one row here and one function there.
"""

from treaty.compatibility.terms.contracts import CONTRACT_TERMS
from treaty.compatibility.terms.fields import FIELD_TERMS
from treaty.compatibility.terms.objects import OBJECT_TERMS
from treaty.compatibility.terms.term import Term

__all__ = ["CONTRACT_TERMS", "FIELD_TERMS", "OBJECT_TERMS", "Term"]
