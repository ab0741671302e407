"""The model, errors, configuration, paths and text."""
