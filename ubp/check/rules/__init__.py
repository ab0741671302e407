"""The rules: one file each, whose docstring is the rule's manual."""
