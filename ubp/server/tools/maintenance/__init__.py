"""Tools that keep documents true."""
