"""Use case: documents and the links between them."""
