"""Answers about an organisation's hub: what a clone sends to it."""
