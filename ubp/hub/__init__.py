"""An organisation's hub: the boards of its repositories in PostgreSQL, and answers over them."""
