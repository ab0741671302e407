"""How sources are written into a page of a snapshot that has no front matter."""

from ubp.core.model import FilePath
from ubp.git.snapshot import read_documents
from ubp.index.view import View
from ubp.markdown.edit_sources import Form, choose_form, is_extra


def form_of(view: View, page: FilePath) -> Form:
    """Return the form that a page's readers do not see, by its site or its project in Elixir."""
    parts = page.split("/")[:-1]
    folders = [FilePath("/".join(parts[:count])) for count in range(len(parts) + 1)]
    manifests = {FilePath(f"{folder}/mix.exs".lstrip("/")): folder for folder in folders}
    entries = {path: entry for path, entry in view.entries(manifests).items() if entry}
    contents = read_documents(view.context.repository, view.snapshot, entries)
    is_listed = any(
        is_extra(page, manifests[path], data.decode("utf-8", "replace"))
        for path, data in contents.items()
        if data
    )
    return choose_form(page, view.sites().of(page), is_extra=is_listed)
