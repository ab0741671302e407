"""Reports as one HTML file that needs nothing else; the template's files lie beside the code."""
