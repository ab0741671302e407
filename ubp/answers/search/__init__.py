"""Answers that find pages and sections, compare their versions, and query what is known of them."""
