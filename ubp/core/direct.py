"""Open an address with the standard library: no redirect is followed.

What is sent with a request (a token, a signature) is for the server that was named, alone.
"""

from http.client import HTTPResponse
from typing import Any
from urllib.request import BaseHandler, HTTPRedirectHandler, Request, build_opener


class _NoRedirect(HTTPRedirectHandler):
    def redirect_request(self, *_: object) -> None:
        """Refuse."""


def open_directly(request: Request, seconds: float, *handlers: BaseHandler) -> HTTPResponse:
    """Return the server's answer; each step may take so many seconds.

    Raises:
        HTTPError: it is a redirect or an error.
        OSError: the server cannot be reached.
    """
    answer: Any = build_opener(_NoRedirect(), *handlers).open(request, timeout=seconds)
    found: HTTPResponse = answer
    return found
