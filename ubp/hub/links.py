"""Addresses of pages where their forges show them."""

from urllib.parse import quote


def page_link(repository: str, commit: str, path: str, line: int | None = None) -> str:
    """Return the address of a page at a commit: `https://github.com/acme/api/blob/…/docs/a.md`.

    GitLab redirects from it to its own form of it.
    """
    written = quote(path.encode("utf-8", "surrogateescape"))
    fragment = f"?plain=1#L{line}" if line and line > 1 else ""
    return f"https://{quote(repository)}/blob/{commit}/{written}{fragment}"
