"""Records become JSON objects, and JSON objects records again."""

from dataclasses import replace

import pytest

from ubp.answers.pages.impact import ImpactRequest
from ubp.frame.encoding import from_object, to_lean_object, to_object
from ubp.frame.schema import request_schema
from ubp.workspace import Workspace


@pytest.fixture
def record(repository):
    repository.write("src/a.py", "x = 1\n")
    repository.write("docs/a.md", "---\nsource_refs: [src/a.py]\n---\n# A\n")
    repository.write("docs/b.md", "[[a|depends_on]]\n")
    repository.commit("Begin")
    with Workspace.open(str(repository.root)) as workspace:
        return workspace.ask(ImpactRequest("src/a.py"))


def test_a_record_equals_what_its_whole_or_lean_object_is_read_as(record):
    assert [page.filepath for page in record.impacted] == ["docs/a.md", "docs/b.md"]
    for json_object in (to_object(record), to_lean_object(record)):
        assert from_object(type(record), json_object) == record


def test_a_key_that_is_no_field_is_ignored_when_a_record_is_read(record):
    shorter = replace(record, impacted=())
    assert from_object(type(record), {**to_object(shorter), "token_estimate": 9}) == shorter


def test_a_request_without_its_required_field_is_not_made():
    assert request_schema(ImpactRequest)["required"] == ["path"]
    with pytest.raises(TypeError):
        ImpactRequest()
