"""The errors of the Python API."""

from ubp.core.errors import *  # noqa: F403
