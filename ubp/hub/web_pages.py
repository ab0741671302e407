"""The hub's search in a browser: three files that contain nothing of any repository.

The page asks `/v1/ask/search` as every client does, with the token that its user gives it, or that
a proxy in front of the hub adds. No cookie is set, and nothing is asked of another host.
"""

from importlib.resources import files

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

FILES = {
    "/search": ("search.html", "text/html; charset=utf-8"),
    "/search.css": ("search.css", "text/css; charset=utf-8"),
    "/search.js": ("search.js", "text/javascript; charset=utf-8"),
}
HEADERS = {
    "content-security-policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self';"
        " img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    ),
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cache-control": "no-cache",
}


def web_routes() -> list[Route]:
    """Return the routes of the files."""
    folder = files("ubp.hub").joinpath("web")
    return [
        _route(address, folder.joinpath(name).read_bytes(), kind)
        for address, (name, kind) in FILES.items()
    ]


def _route(address: str, content: bytes, kind: str) -> Route:
    async def answer(_: Request) -> Response:
        return Response(content, headers=HEADERS, media_type=kind)

    return Route(address, answer, methods=["GET"])
