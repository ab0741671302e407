"""Arguments of several tools about specifications."""

from typing import Annotated

Language = Annotated[str, "from list_languages"]
Version = Annotated[str, "from list_versions; by default the pinned or newest one"]
SectionId = Annotated[str, "section_id of a result of search_spec"]
