"""Tools that read documents."""
