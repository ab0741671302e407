"""Answers about findings: what rules report, what they mean, and which are accepted."""
