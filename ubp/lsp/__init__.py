"""The language server: what editors show of documents and of the sources that they describe."""
