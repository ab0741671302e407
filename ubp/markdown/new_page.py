"""Write documents that programs make: front matter, and the text below it."""

from collections.abc import Mapping


def write_page(content: str, fields: Mapping[str, object]) -> bytes:
    """Return the bytes of a document with these fields in its front matter, if there are any."""
    if not fields:
        return f"{content.rstrip()}\n".encode("utf-8", "surrogatepass")
    import frontmatter  # it takes 20 ms to import

    post = frontmatter.Post(content.strip("\n"))
    post.metadata.update(fields)
    text = frontmatter.dumps(post, sort_keys=False, allow_unicode=True)
    return f"{text}\n".encode("utf-8", "surrogatepass")


def read_metadata(data: bytes) -> dict[str, object]:
    """Return a document's front matter as `write_page` takes it; empty if it cannot be read."""
    import frontmatter
    from yaml import YAMLError

    try:
        return dict(frontmatter.loads(data.decode("utf-8", "replace")).metadata)
    except (YAMLError, ValueError, TypeError, RecursionError):
        return {}
