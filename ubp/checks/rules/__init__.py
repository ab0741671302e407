"""One module for each rule."""
