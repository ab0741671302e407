"""Site generators: how each one makes anchors and addresses from a repository's pages."""
