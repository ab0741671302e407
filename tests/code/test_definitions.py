"""The names that a source defines, and the keys of those in many versions of it."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ubp.code.definitions import (
    MAX_BYTES,
    find_definitions,
    find_keys,
    find_keys_of_versions,
    language_of,
)
from ubp.core.names import fold_name, name_key

LINES = [
    b"def read_all(limit=1):",
    b"    --dry-run = 'read-' + name",
    b"class ReadTimeout:  # {kind}_timeout",
    b"x = f'{a}-end'",
    b"READ_ALL = env('READ_ALL')",
    b"flag('storage.wal.limit', __fields__)",
    b"",
    b"\tz\0y",
]
sources = st.lists(st.sampled_from(LINES), max_size=8).map(b"\n".join)


@given(st.lists(sources, max_size=5))
def test_merged_versions_have_the_keys_of_each(versions):
    assert find_keys_of_versions(versions) == frozenset().union(*map(find_keys, versions))


@pytest.mark.parametrize(
    ("language", "line", "name"),
    [
        ("braces", "    void ProjectUsing(Expression<Func<A, B>> projection);", "ProjectUsing"),
        ("braces", "    public TTarget MapTo<TTarget>(object source)", "MapTo"),
        ("braces", "    virtual int page_size() const = 0;", "page_size"),
        ("braces", "    public $page_size = 1;", "page_size"),
        ("data", '  "page_size": 1', "page_size"),
        ("shell", "PAGE_SIZE ?= 1", "PAGE_SIZE"),
        ("other", "CREATE OR REPLACE FUNCTION app.page_size(a integer)", "page_size"),
        ("other", "create table if not exists page_size (", "page_size"),
        ("lisp", "(defcustom page-size 1", "page-size"),
        ("lisp", "  (cl-defun page-size (page)", "page-size"),
        ("lisp", "(cl-defstruct (page-size (:copier nil)) a)", "page-size"),
        ("lisp", "(defn ^:private page-size [page]", "page-size"),
        ("lisp", "(define (page-size page)", "page-size"),
        ("functional", "pageSize :: Page -> Int", "pageSize"),
        ("functional", "pageSize : Page -> Int", "pageSize"),
        ("functional", "  { pageSize :: Int", "pageSize"),
        ("functional", "data PageSize = One", "PageSize"),
        ("functional", "  | PageSize Int", "PageSize"),
        ("functional", "let rec page_size page =", "page_size"),
        ("functional", '  switch (long "page-size" <> help "x")', "page-size"),
        ("declarative", "  pageSize = lib.mkOption {", "pageSize"),
        ("declarative", 'variable "page_size" {', "page_size"),
        ("declarative", "  page-size = 1;", "page-size"),
        ("other", "proc pageSize*(page: Page): int =", "pageSize"),
        ("other", "pub fn page_size(page: Page) -> Int {", "page_size"),
        ("go", '{Type: "int", Name: "page_size"},', "page_size"),
        ("rust", 'counter!("page_requests_total", 1);', "page_requests_total"),
        ("typed script", "size: z.number().describe('PAGE_SIZE'),", "PAGE_SIZE"),
        ("data", "page_size = 1", "page_size"),
        ("data", "  - page_size: 1", "page_size"),
        ("python", 'size = getattr(view, "page_size", 1)', "page_size"),
        ("python", "size = kwargs.pop('page_size')", "page_size"),
        ("python", 'timeout = os.environ["CLIENT_TRACE"]', "CLIENT_TRACE"),
        ("python", 'timeout = os.getenv("CLIENT_TRACE", "3")', "CLIENT_TRACE"),
        ("python", '@option("--trace", envvar="CLIENT_TRACE")', "CLIENT_TRACE"),
        ("typed script", "if (process.env.CLIENT_TRACE) {", "CLIENT_TRACE"),
        ("typed script", "if (process.env['CLIENT_TRACE']) {", "CLIENT_TRACE"),
        ("rust", 'let trace = std::env::var("CLIENT_TRACE");', "CLIENT_TRACE"),
        ("rust", '#[arg(long, env = "CLIENT_TRACE")]', "CLIENT_TRACE"),
        ("go", 'trace := os.Getenv("CLIENT_TRACE")', "CLIENT_TRACE"),
        ("go", '\tenvVarTrace = "CLIENT_TRACE"', "CLIENT_TRACE"),
        ("go", '\tEnvVars: []string{"CLIENT_TRACE"},', "CLIENT_TRACE"),
        ("go", 'a.Flag("storage.wal.limit", "Limit.")', "storage.wal.limit"),
        ("python", 'parser.add_argument("--storage.wal-limit")', "--storage.wal-limit"),
        ("python", "class Model:\n    __fields__ = ()", "__fields__"),
        ("rust", '        env!("CLIENT_TRACE")', "CLIENT_TRACE"),
        ("go", '\tif prefix := location.Config["repoPrefix"]; prefix != "" {', "repoPrefix"),
        ("go", '\tKindStore Kind = "objectstore"', "objectstore"),
        ("go", '\tsizeName = "read_all_bytes"', "read_all_bytes"),
        ("data", "[profile.cli-dev]", "cli-dev"),
        ("braces", "fun Service.readAll() = lazy { 1 }", "readAll"),
        ("braces", "inline fun <reified T : Any> Set<T>.readAll(): T = 1", "readAll"),
        ("braces", "val View?.pageSize: Int get() = 1", "pageSize"),
        ("braces", '    [Option("readAll", Required = false)]', "readAll"),
        ("braces", '    @JsonProperty("readAll")', "readAll"),
        ("braces", '    @Option(names = "--read-all")', "read-all"),
        ("braces", "public Source(bool readAll = false, int limit = 1)", "readAll"),
        ("braces", "fun read(limit: Int, val readAll: Boolean = false)", "readAll"),
        ("braces", "public class ReadAllAttribute : Attribute", "ReadAll"),
        ("braces", "    ReadAll,", "ReadAll"),
        ("braces", "    ReadAll = 1 << 2,", "ReadAll"),
        ("braces", "message ReadAll {", "ReadAll"),
        ("typed script", "  readAll: (limit: number) => read(limit),", "readAll"),
        ("braces", "  rpc ReadAll (Request) returns (Answer) {}", "ReadAll"),
        ("typed script", "  mode: 'one' | 'readAll' | 'none'", "readAll"),
        ("typed script", "export { readOne, readAll };", "readAll"),
        ("typed script", "export {\n  default as readAll,\n} from './read';", "readAll"),
        ("script", "export * as readAll from '../read'", "readAll"),
        ("other", "  mattr_accessor :page_size, default: false", "page_size"),
        ("other", "  class_attribute :page_size", "page_size"),
        ("braces", "    public int? PageSize { get; set; }", "PageSize"),
        ("braces", "    string PageSize { get; }", "PageSize"),
        ("braces", "using PageSize = int;", "PageSize"),
        ("braces", "    protected internal int PageSize\n    {\n        get => 1;", "PageSize"),
        ("braces", "    public bool PageSize => a == b;", "PageSize"),
        ("braces", "    public static Page ReadAll(int limit) =>", "ReadAll"),
        ("braces", "enum Kind : byte\n{\n    One, PageSize, Last\n}", "PageSize"),
        ("braces", "enum class Kind { ONE, READ_ALL(1, 2); fun read() = 1 }", "READ_ALL"),
        ("typed script", "export enum Kind { One, PageSize = 2 }", "PageSize"),
        ("braces", "enum Kind {\n  FirstOne, // one; {two}\n  One = 2, PageSize\n}", "PageSize"),
        ("other", "  defmacro read_all(opts) do", "read_all"),
        ("other", "  defdelegate read_all(opts), to: Page", "read_all"),
        ("other", "defmodule App.Page.ReadAll do", "ReadAll"),
        ("other", "  @callback read_all(term) :: :ok", "read_all"),
        ("other", "    page_size: [\n      type: :integer,", "page_size"),
    ],
)
def test_name_is_defined_and_its_key_occurs(language, line, name):
    definitions = find_definitions(line.encode(), language)
    assert name in definitions.names | definitions.keys
    assert name_key(fold_name(name)) in find_keys(line.encode())


@pytest.mark.parametrize(
    "line", ["    return read_all(a);", "    var a = read_all(b);", "    read_all(a);"]
)
def test_call_in_a_language_with_braces_defines_nothing(line):
    assert "read_all" not in find_definitions(line.encode(), "braces").names


@pytest.mark.parametrize(
    "line",
    [
        "    return readAll(a)",
        "    throw readAll(a)",
        "    return readAll;",
        "using readAll;",
        "use readAll;",
        "class Page : readAll(1) {",
        "class Page : Source by readAll(1) {",
        "class Page extends readAll(1) {",
        "    var page: readAll { get }",
        "    page => readAll(page)",
        "enum Kind { One(readAll), Two } // a, readAll",
        "class Reader : Closed, readAll(1) {",
        "    if readAll {\n  set(x)",
        "    for it in readAll {\n  set.insert(it)",
    ],
)
def test_what_a_statement_or_a_class_uses_is_not_defined(line):
    assert "readAll" not in find_definitions(line.encode(), "braces").names


@pytest.mark.parametrize("name", ["ngOnDestroy", "componentDidMount", "shouldComponentUpdate"])
def test_method_that_a_component_overrides_is_not_defined(name):
    source = f"class Page extends Component {{\n  {name}() {{\n  }}\n  load() {{\n  }}\n}}\n"
    assert find_definitions(source.encode(), "script").names == {"Page", "load"}


@pytest.mark.parametrize(
    ("language", "line"),
    [
        ("braces", 'throw new Error("message received");'),
        ("typed script", "a = b || 'received';"),
        ("script", "export { received } from 'messages';"),
        ("script", "export { received as default };"),
    ],
)
def test_words_of_messages_and_defaults_are_not_defined(language, line):
    definitions = find_definitions(line.encode(), language)
    assert "received" not in definitions.names | definitions.keys


@pytest.mark.parametrize(
    ("path", "language"),
    [
        ("charts/values.yaml.tmpl", "data"),
        ("docker/.env", "shell"),
        (".env.example", "shell"),
        ("api/v1.proto", "braces"),
        ("schema.graphql", "script"),
        ("src/pages.erl", "functional"),
        ("contracts/Page.sol", "braces"),
        ("sql/pages.sql", "other"),
        ("server.conf.in", "data"),
        ("lib/CMakeLists.txt", "other"),
        ("settings.py.j2", "python"),
        ("page.tmpl", None),
        (".tmpl", None),
    ],
)
def test_template_of_a_file_has_its_language(path, language):
    assert language_of(path) == language


def test_function_that_extends_a_type_does_not_define_the_type():
    assert find_definitions(b"fun Service.readAll() = 1", "braces").names == {"readAll"}


def test_names_with_a_meaning_in_python_are_not_defined():
    source = b"class Model:\n    __slots__ = ()\n    def __init__(self): ...\n    _private = 1\n"
    assert find_definitions(source, "python").names == {"Model", "self"}


@pytest.mark.parametrize(
    ("language", "line"),
    [
        ("rust", "//! Suggestions, as in `Did you mean '--myoption'?`"),
        ("typed script", " * @todo WARN on '--experimental-modules'"),
        ("python", '# pass "--dry-run"'),
        ("go", '\tLong: "like rsync\'s ` + "`--itemize-changes`" + `.",'),
    ],
)
def test_options_in_comments_and_prose_are_not_defined(language, line):
    names = find_definitions(line.encode(), language).names
    assert not [name for name in names if name.startswith("--")]


@pytest.mark.parametrize("name", ["OTEL_RESOURCE_ATTRIBUTES", "AWS_REGION", "NO_COLOR"])
def test_variable_that_many_programs_read_is_not_defined(name):
    definitions = find_definitions(f"value = os.getenv('{name}')".encode(), "python")
    assert name not in definitions.names | definitions.keys


@pytest.mark.parametrize(
    "part", ["enum ", "enum(", "enum A {,", "public a b(", "a: [\n ", "/*x", "// "]
)
def test_hostile_source_is_read_in_linear_time(part):
    data = ("enum A {a" + part * (MAX_BYTES // len(part))).encode()[:MAX_BYTES]
    started = time.process_time()
    for language in ("braces", "typed script", "other"):
        find_definitions(data, language)
    assert time.process_time() - started < 10
