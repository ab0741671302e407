import contextlib
import json
import os
import re
import sys
import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ubp.core import config_file
from ubp.core.config import (
    BUILT_IN_EXCLUDE,
    CollectionSetting,
    Config,
    EditSettings,
    Ignored,
    SiteSetting,
    TranslationRule,
    is_document,
    is_excluded,
    scope_key,
)
from ubp.core.config_file import load_config, schema_text
from ubp.core.errors import ConfigError
from ubp.core.model import FilePath

EVERYTHING = {
    "$schema": "./config.schema.json",
    "docs_dir": "docs",
    "source": {"include": ["docs/**/*.md"], "exclude": ["drafts/"]},
    "staleness": {
        "keys": ["covers", "code_references[].ref"],
        "threshold_days": 0.5,
        "records": ["adr", "docs/reports/**"],
        "ignore_commits": ["[skip-docs]"],
        "quiet_after": 3,
        "pin": "verified-at",
    },
    "translations": [{"page": "docs/{lang}/{path}", "source": "docs/en/{path}", "pin": "commit"}],
    "links": {"root": "docs/site"},
    "sites": [{"generator": "hugo", "folder": "site", "root": "site/pages", "base": "/x/"}],
    "check": {
        "severity": {"orphan-doc": "warning", "stale-doc": "off"},
        "ignore": [{"path": "docs/old/**", "rule": "broken-link", "reason": "an archive"}],
    },
    "search": {"model": "some/model"},
    "bind": {"refused": [{"page": "docs/a.md", "source": "src/[id].ts"}]},
    "edit": {"paths": ["docs"], "rate": {"edits": 5, "bytes": 10_000}, "max_page_bytes": 2_000},
    "collections": {
        "go": {"url": "https://go.dev/ref/spec", "at": "9c1d04ab3f2a", "language": "go"},
        "api": {
            "git": "https://example.org/api.git",
            "include": ["openapi/**"],
            "policy": "excerpt_only",
        },
    },
}
SCHEMA = json.loads(schema_text())


@pytest.fixture
def config_dir(tmp_path: Path) -> Path:
    folder = tmp_path / "project" / ".ubp"
    folder.mkdir(parents=True)
    return folder


def load(config_dir: Path, content: object) -> Config:
    if not isinstance(content, (str, bytes)):
        content = json.dumps(content, indent=2, ensure_ascii=False)
    data = content if isinstance(content, bytes) else content.encode()
    (config_dir / "config.json").write_bytes(data)
    return load_config(str(config_dir))


def refusal(config_dir: Path, content: object) -> str:
    with pytest.raises(ConfigError) as caught:
        load(config_dir, content)
    error = caught.value
    assert error.hint
    return f"{error.message} {error.cause}"


def test_defaults_apply_without_a_file_and_json_is_not_imported(config_dir: Path):
    assert load_config(str(config_dir)) == Config()
    assert load_config(str(config_dir / "missing" / ".ubp")) == Config()
    assert Config() == Config(
        "", ("**/*.md", "**/*.mdx", "**/*.markdown"), BUILT_IN_EXCLUDE, ("source_refs",), 7.0, ()
    )


def test_settings_of_the_design_are_accepted(config_dir: Path):
    assert load(config_dir, EVERYTHING) == Config(
        docs_dir="docs",
        include=("docs/**/*.md",),
        exclude=(*BUILT_IN_EXCLUDE, "drafts", "drafts/**"),
        keys=("covers", "code_references[].ref"),
        threshold_days=0.5,
        warnings=(),
        severities=(("orphan-doc", "warning"), ("stale-doc", "off")),
        ignored=(Ignored(("docs/old", "docs/old/**"), "broken-link", "an archive"),),
        link_roots=("docs/site",),
        model="some/model",
        refused=frozenset({("docs/a.md", "src/[id].ts")}),
        pin_key="verified-at",
        translations=(TranslationRule("docs/{lang}/{path}", "docs/en/{path}", "commit"),),
        edit=EditSettings(("docs", "docs/**"), 2_000, 5, 10_000),
        collections=(
            CollectionSetting(
                *("go", "import", "https://go.dev/ref/spec", "9c1d04ab3f2a"), language="go"
            ),
            CollectionSetting(
                *("api", "mirror", "https://example.org/api.git"),
                include=("openapi/**",),
                policy="excerpt_only",
            ),
        ),
        sites=(SiteSetting("hugo", FilePath("site"), FilePath("site/pages"), "/x/"),),
        records=("adr", "adr/**", "docs/reports", "docs/reports/**"),
        ignored_commits=("[skip-docs]",),
        quiet_after=3,
    )


def test_settings_are_all_optional(config_dir: Path):
    assert load(config_dir, {}) == Config()
    for section in ["source", "staleness", "links", "check", "search", "bind"]:
        assert load(config_dir, {section: {}}) == Config()


def test_byte_order_mark_and_crlf_are_tolerated(config_dir: Path):
    text = json.dumps(EVERYTHING, indent=1).replace("\n", "\r\n")
    assert load(config_dir, b"\xef\xbb\xbf" + text.encode()) == load(config_dir, EVERYTHING)


def test_documentation_folder_limits_what_is_read_by_default(config_dir: Path):
    config = load(config_dir, {"docs_dir": "./docs/"})
    assert config.docs_dir == "docs"
    assert [path for path in ["docs/a.md", "docs/b/c.markdown", "a.md", "docs/a.txt"]
            if is_document(config, path)] == ["docs/a.md", "docs/b/c.markdown"]  # fmt: skip
    assert load(config_dir, {"docs_dir": "docs", "source": {"include": ["**/*.md"]}}).include == (
        "**/*.md",
    )
    assert load(config_dir, {"docs_dir": "."}) == Config()


@pytest.mark.parametrize("folder", ["docs", "docs/", "./docs"])
def test_included_folder_includes_the_documents_below_it(config_dir: Path, folder: str):
    config = load(config_dir, {"source": {"include": [folder, "README.md"]}})
    paths = ["docs/a.md", "docs/b/c.md", "README.md", "docs/logo.png", "x/docs/a.md"]
    assert [path for path in paths if is_document(config, path)] == paths[:3]


@pytest.mark.parametrize("folder", ["drafts", "drafts/", "./drafts", "drafts/**"])
def test_files_in_an_excluded_folder_are_excluded(config_dir: Path, folder: str):
    config = load(config_dir, {"source": {"exclude": [folder]}})
    assert is_excluded(config, "drafts/a/b.md")
    assert is_excluded(config, "drafts")
    assert not is_excluded(config, "docs/drafts.md")


@pytest.mark.parametrize(
    "path",
    ["node_modules/a.md", "x/vendor/y/a.md", "a.secret.md", "x/private/k.py", "private", ".env"],
)
@pytest.mark.parametrize(
    "settings", [{}, {"source": {"exclude": []}}, {"source": {"exclude": ["x"]}}]
)
def test_built_in_exclusions_cannot_be_removed(config_dir: Path, settings: object, path: str):
    config = load(config_dir, settings)
    assert is_excluded(config, path)
    assert not is_document(config, path)


def test_patterns_match_names_in_either_unicode_form(config_dir: Path):
    config = load(config_dir, {"source": {"include": ["ガイド/**"], "exclude": ["**/秘密ガ.md"]}})
    assert is_document(config, "カ\u3099イト\u3099/a.md")
    assert is_excluded(config, "x/秘密カ\u3099.md")
    assert not is_document(config, "\udce9/a.md")


REFUSED = r"""
{"source": [
    .ubp/config.json:1:13: Not valid JSON.
    Expecting value.
{ "a": 1, }
    .ubp/config.json:1:11: Not valid JSON.
    Expecting property name enclosed in double quotes.
[]
    .ubp/config.json:1: Invalid configuration: an empty list.
    Expected an object of settings, each of them optional.
7
    .ubp/config.json:1: Invalid configuration: 7.
    Expected an object of settings, each of them optional.
{"source": 1}
    .ubp/config.json:2: Invalid value for source: 1.
    Expected an object with include and exclude.
{"source": {"include": "x"}}
    .ubp/config.json:3: Invalid value for source.include: "x".
    Expected a list of 1 to 200 patterns: the files that are documents.
{"source": {"include": []}}
    .ubp/config.json:3: Invalid value for source.include: an empty list.
    Expected a list of 1 to 200 patterns: the files that are documents.
{"source": {"exclude": ["a", 1]}}
    .ubp/config.json:5: Invalid value for source.exclude[1]: 1.
    Expected a pattern relative to the repository root, such as "docs/**/*.md", without "..".
{"staleness": {"threshold_days": "7"}}
    .ubp/config.json:3: Invalid value for staleness.threshold_days: "7".
    Expected a number of days from 0 to 36500; a page with older drift is stale.
{"staleness": {"keys": ["a..b"]}}
    .ubp/config.json:4: Invalid value for staleness.keys[0]: "a..b".
    Expected a front matter key such as "source_refs" or "code_references[].ref".
{"check": {"severity": {"stale-doc": "info"}}}
    .ubp/config.json:4: Invalid value for check.severity.stale-doc: "info".
    Expected "error", "warning" or "off".
{"check": {"ignore": [{"path": "a"}]}}
    .ubp/config.json:4: Invalid value for check.ignore[0]: an object.
    Expected an object with path and rule.
{"bind": {"refused": [{"page": "../a", "source": "b"}]}}
    .ubp/config.json:5: Invalid value for bind.refused[0].page: "../a".
    Expected a path relative to the repository root, without "..".
{"docs_dir": null}
    .ubp/config.json:2: Invalid value for docs_dir: null.
    Expected the folder that contains the documents, relative to the repository root, without "..".
"""


def refused_cases() -> list[tuple[str, str]]:
    lines = REFUSED.strip().split("\n")
    return [
        (lines[i], f"{lines[i + 1].strip()} {lines[i + 2].strip()}")
        for i in range(0, len(lines), 3)
    ]


@pytest.mark.parametrize(("content", "message"), refused_cases())
def test_invalid_file_is_reported_with_its_line_and_what_is_expected(
    config_dir: Path, content: str, message: str
):
    with contextlib.suppress(json.JSONDecodeError):
        content = json.dumps(json.loads(content), indent=2)
    assert refusal(config_dir, content) == message


def test_empty_file_is_refused(config_dir: Path):
    assert refusal(config_dir, "") == ".ubp/config.json:1:1: Not valid JSON. Expecting value."


@pytest.mark.parametrize("days", ["true", "-1", "NaN", "Infinity", "1e999", "-0.1", "null", "[7]"])
def test_threshold_must_be_a_number_of_days(config_dir: Path, days: str):
    assert "staleness.threshold_days" in refusal(
        config_dir, f'{{"staleness": {{"threshold_days": {days}}}}}'
    )


@pytest.mark.parametrize("where", ["include", "exclude"])
@pytest.mark.parametrize(
    "pattern",
    ["../x/*.md", "/etc/*", "a/../../b", "a/..", "C:/x", "\\\\server\\x", "", "a\0b", "a\n/../b",
     "x" * 2000, "{a,b}" * 16],
)  # fmt: skip
def test_pattern_that_leaves_the_repository_or_explodes_is_refused(
    config_dir: Path, where: str, pattern: str
):
    assert f"source.{where}[1]" in refusal(config_dir, {"source": {where: ["a", pattern]}})


def test_unknown_key_is_a_warning_with_the_nearest(config_dir: Path):
    content = {
        "stalness": {"keys": 1},
        "source": {"includes": ["docs"], "zzz": 1},
        "check": {"ignore": [{"path": "a", "rule": "stale", "why": "c"}]},
        "qqq": [],
    }
    everything = (
        "$schema, docs_dir, source, staleness, translations, links, sites, check, search, bind, "
        "edit, collections"
    )
    assert load(config_dir, content) == Config(
        warnings=(
            '.ubp/config.json:2: Unknown setting "stalness"; did you mean "staleness"?',
            '.ubp/config.json:6: Unknown setting "includes"; did you mean "include"?',
            '.ubp/config.json:9: Unknown setting "zzz"; source accepts include, exclude.',
            (
                '.ubp/config.json:16: Unknown setting "why"; '
                "check.ignore[0] accepts path, rule, reason."
            ),
            f'.ubp/config.json:20: Unknown setting "qqq"; this file accepts {everything}.',
            '.ubp/config.json:15: Unknown rule "stale"; did you mean "stale-doc"?',
        ),
        ignored=(Ignored(("a", "a/**"), "stale"),),
    )


def test_duplicate_key_is_a_warning(config_dir: Path):
    config = load(config_dir, '{"docs_dir": "a", "docs_dir": "b"}')
    assert config.docs_dir == "b"
    warning = '.ubp/config.json: Duplicate key "docs_dir"; the last value is used.'
    assert config.warnings == (warning,)


@pytest.mark.parametrize(
    "content",
    [b"\xff\xfe{", b'{"docs_dir": "\xe9"}', b"[" * 200_000, b'{"a":' * 100_000, b"9" * 5000,
     b'{"staleness": {"threshold_days": ' + b"9" * 400 + b"}}",
     b"{" + b" " * (1024 * 1024) + b"}", b'{"x": "\0"}', b'{"docs_dir": "\\ud800"' , b"\0" * 9],
)  # fmt: skip
def test_hostile_file_is_refused_quickly(config_dir: Path, content: bytes):
    start = time.process_time()
    assert refusal(config_dir, content).removeprefix("Cannot read ").startswith(".ubp/config.json")
    assert time.process_time() - start < 5  # one that explodes takes minutes


def test_thousands_of_unknown_keys_are_reported_quickly(config_dir: Path):
    start = time.process_time()
    config = load(config_dir, {f"key{n}": n for n in range(50_000)})
    assert len(config.warnings) == 20
    assert time.process_time() - start < 5  # quadratic work takes minutes


def test_half_a_surrogate_in_a_pattern_is_harmless(config_dir: Path):
    config = load(config_dir, b'{"source": {"include": ["\\ud800/*.md"]}}')
    assert scope_key(config).isascii()
    assert not is_document(config, "a.md")


@pytest.mark.skipif(sys.platform == "win32", reason="symbolic links need a privilege there")
def test_link_out_of_the_repository_is_not_followed(config_dir: Path, tmp_path: Path):
    outside = tmp_path / "outside.json"
    outside.write_text("{}")
    link = config_dir / "config.json"
    for target in [str(outside), "../../outside.json", "/dev/zero", "nowhere", "config.json"]:
        link.symlink_to(target)
        with pytest.raises(ConfigError, match="Cannot read"):
            load_config(str(config_dir))
        link.unlink()
    inside = config_dir.parent / "ubp.json"
    inside.write_text('{"docs_dir": "docs"}')
    link.symlink_to("../ubp.json")
    assert load_config(str(config_dir)).docs_dir == "docs"


@pytest.mark.skipif(sys.platform == "win32", reason="symbolic links need a privilege there")
def test_data_folder_outside_the_repository_is_not_followed(config_dir: Path, tmp_path: Path):
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "config.json").write_text("{}")
    config_dir.rmdir()
    config_dir.symlink_to(elsewhere)
    with pytest.raises(ConfigError, match="not read"):
        load_config(str(config_dir))


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no FIFOs here")
def test_path_that_is_not_a_file_is_not_read(config_dir: Path):
    (config_dir / "config.json").mkdir()
    with pytest.raises(ConfigError, match="not read"):
        load_config(str(config_dir))
    (config_dir / "config.json").rmdir()
    os.mkfifo(config_dir / "config.json")
    with pytest.raises(ConfigError, match="not read"):
        load_config(str(config_dir))


def test_scope_changes_only_with_what_is_read(config_dir: Path):
    base = scope_key(Config())
    assert scope_key(load(config_dir, {"staleness": {"threshold_days": 3}})) == base
    scopes = [
        scope_key(load(config_dir, {"source": source}))
        for source in [{"include": ["docs"]}, {"exclude": ["docs"]}, {"include": ["a", "b"]}]
    ]
    assert len({base, *scopes}) == 4


def test_schema_uses_only_keywords_that_the_loader_supports():
    known = set(
        re.findall(
            r"\S+",
            """
            $ref description type properties additionalProperties items enum pattern minLength
            maxLength minItems maxItems minimum maximum required default
            """,
        )
    )

    def keywords(schema: dict) -> set[str]:
        below = [*schema.get("properties", {}).values(), *schema.get("$defs", {}).values()]
        below += [schema[k] for k in ("items", "additionalProperties") if schema.get(k)]
        return set(schema).union(*map(keywords, below))

    assert keywords(SCHEMA) - {"$schema", "$id", "$defs", "title"} == known


def test_schema_has_the_defaults_that_apply():
    source = SCHEMA["properties"]["source"]["properties"]
    staleness = SCHEMA["properties"]["staleness"]["properties"]
    edit = SCHEMA["properties"]["edit"]["properties"]
    assert Config() == Config(
        include=tuple(source["include"]["default"]),
        exclude=(*BUILT_IN_EXCLUDE, *source["exclude"]["default"]),
        keys=tuple(staleness["keys"]["default"]),
        threshold_days=staleness["threshold_days"]["default"],
        records=tuple(staleness["records"]["default"]),
        ignored_commits=tuple(staleness["ignore_commits"]["default"]),
        edit=EditSettings(
            tuple(edit["paths"]["default"]),
            edit["max_page_bytes"]["default"],
            edit["rate"]["properties"]["edits"]["default"],
            edit["rate"]["properties"]["bytes"]["default"],
        ),
    )
    assert list(SCHEMA["properties"]) == list(EVERYTHING)


JSON = st.recursive(
    st.none() | st.booleans() | st.floats() | st.integers() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from([*EVERYTHING, "include", "keys", "x"]), inner, max_size=4)
    ),
    max_leaves=8,
)


@given(st.dictionaries(st.sampled_from(list(EVERYTHING)), JSON, max_size=3))
def test_arbitrary_json_loads_or_is_refused_with_a_line(
    tmp_path_factory: pytest.TempPathFactory, value
):
    folder = tmp_path_factory.mktemp("any") / ".ubp"
    folder.mkdir()
    message = ""
    try:
        config = load(folder, json.dumps(value))
    except ConfigError as error:
        config, message = Config(), error.message
    assert not message or re.match(r"\.ubp/config\.json:\d+: ", message)
    assert set(BUILT_IN_EXCLUDE) <= set(config.exclude)


@given(JSON)
def test_values_have_the_position_of_their_line(value: object):
    text = json.dumps(value, indent=1)
    lines = text.split("\n")
    for trail, line in config_file._locate_values(text):
        key = trail[-1]
        assert isinstance(key, int) or json.dumps(key) + ":" in lines[line - 1]


@pytest.mark.parametrize(
    ("collections", "message"),
    [
        ({"Go": {"url": "https://a"}}, "Invalid name of a collection"),
        ({"g": {"url": "https://a"}}, "Invalid name of a collection"),
        ({"a:b": {"url": "https://a"}}, "Invalid name of a collection"),
        ({"go": {}}, "either git or url"),
        ({"go": {"url": "https://a", "git": "https://b"}}, "either git or url"),
        ({"go": {"url": "https://a", "at": "HEAD"}}, "collections.go.at"),
        ({"go": {"url": "https://a", "include": ["../x"]}}, "collections.go.include"),
    ],
)
def test_collection_that_cannot_be_used_is_refused(config_dir: Path, collections, message):
    assert message in refusal(config_dir, {"collections": collections})
