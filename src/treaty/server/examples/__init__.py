"""Examples in the description of the API: what requests and answers may look like."""
