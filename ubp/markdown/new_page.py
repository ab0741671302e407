"""Write new documents: front matter, and the text below it."""

from collections.abc import Mapping


def write_page(content: str, fields: Mapping[str, object]) -> bytes:
    """Return the bytes of a document with these fields in its front matter, if there are any."""
    if not fields:
        return f"{content.rstrip()}\n".encode()
    import frontmatter  # it takes 20 ms to import

    post = frontmatter.Post(content.strip("\n"))
    post.metadata.update(fields)
    return f"{frontmatter.dumps(post, sort_keys=False, allow_unicode=True)}\n".encode()
