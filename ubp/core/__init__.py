"""The model, errors, configuration, paths, files and text: what every other package uses."""
