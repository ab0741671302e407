"""The version, which every other module takes from here: `ubp` itself imports `ubp.workspace`."""

__version__ = "0.1.0"
