"""The tool set `care`: to keep pages true."""
