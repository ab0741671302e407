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
    return split_page(data.decode("utf-8-sig", "replace"))[0]


def split_page(text: str) -> tuple[dict[str, object], str]:
    """Return front matter (YAML or JSON) as `write_page` takes it, and the text below it.

    Where it has no fields or cannot be read, it is a part of the text.
    """
    import frontmatter
    from yaml import YAMLError

    try:
        fields, content = frontmatter.parse(text)
    except (YAMLError, ValueError, TypeError, RecursionError):
        return {}, text
    if not fields:
        return {}, text
    # `content` has lost its first line's indentation and its CRLFs, but no line in the middle.
    lines = text.rstrip().split("\n")[-1 - content.count("\n") :] if content else []
    return dict(fields), "\n".join(lines)
