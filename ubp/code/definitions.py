"""The names that a source file defines, and all that occur in it, by light rules per language.

A name is defined by a function, class, field, parameter, constant, key or option, or by reading an
environment variable. What a file imports or calls is not defined there.
"""

import re
from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import Literal, NamedTuple

from ubp.core.names import fold_name, name_key

Language = Literal[
    "python",
    "script",
    "typed script",
    "go",
    "rust",
    "braces",
    "shell",
    "style",
    "data",
    "lisp",
    "functional",
    "declarative",
    "other",
]

# Larger files are generated; what people wrote comes before.
MAX_BYTES = 400_000
# A file is binary if a NUL is near its beginning, as in Git.
BINARY_PREFIX_BYTES = 8_000
# A line as long was made by a machine.
MAX_LINE = 2_000

_LANGUAGES: dict[str, Language] = {
    **dict.fromkeys(("py", "pyi", "pyx", "bzl", "bazel", "star"), "python"),
    **dict.fromkeys(("js", "jsx", "mjs", "cjs", "vue", "svelte", "graphql", "graphqls"), "script"),
    **dict.fromkeys(("ts", "tsx", "mts", "cts"), "typed script"),
    "go": "go",
    "rs": "rust",
    **dict.fromkeys(
        (
            "c",
            "h",
            "cc",
            "cpp",
            "hpp",
            "cs",
            "java",
            "kt",
            "scala",
            "swift",
            "php",
            "dart",
            "proto",
            "cxx",
            "hh",
            "m",
            "mm",
            "kts",
            "gradle",
            "groovy",
            *("cu", "cuh", "hxx", "inl", "ino", "vala", "sol", "move", "cairo", "thrift", "prisma"),
        ),
        "braces",
    ),
    **dict.fromkeys(("sh", "bash", "zsh", "fish", "ps1", "mk", "env", "properties"), "shell"),
    **dict.fromkeys(("css", "scss", "sass", "less"), "style"),
    **dict.fromkeys(
        ("json", "jsonc", "json5", "yaml", "yml", "toml", "ini", "cfg", "conf"), "data"
    ),
    **dict.fromkeys(("el", "clj", "cljs", "cljc", "lisp", "scm", "rkt"), "lisp"),
    **dict.fromkeys(("hs", "elm", "purs", "ml", "mli", "fs", "fsi", "erl", "hrl"), "functional"),
    **dict.fromkeys(("nix", "tf", "hcl"), "declarative"),
    **dict.fromkeys(
        (
            *("rb", "lua", "ex", "exs", "pl", "r", "jl", "cr", "nim", "zig", "gleam", "cmake"),
            *("sql", "coffee", "pm", "vim", "tcl", "nu"),
        ),
        "other",
    ),
}

# A template of a file has its language: `values.yaml.tmpl`, `.env.example`.
_TEMPLATE = r"(?<=\w)\.(?:tmpl|tpl|gotmpl|j2|in|dist|template|example|sample)$"

SUFFIX = "attribute"  # of classes in C# that are written without it: `[ClrJob]`

_TOKEN = rb"[a-z_]\w*(?:-+\w+)*"
_DUNDER = rb"__[A-Za-z]\w*?__"
# Options: `"storage.wal.limit"`, --storage.wal.limit
_DOTTED = rb"""["'`-]([a-z][\w-]*(?:\.[a-z][\w-]*)+)"""
_WORD = rb"[A-Za-z_]\w*"

# Blocks, and names that are bound at the beginning of a line.
_PYTHON_LINES = (
    rb"(?m)^([ \t]*)(?:(?:async[ \t]+)?(def|class)[ \t]+(" + _WORD + rb")"
    rb"|(?:self|cls)\.(" + _WORD + rb")[ \t]*(?::[^=\n]+)?=(?!=)"
    rb"|(" + _WORD + rb")[ \t]*(?::[ \t]*[\w\"'\[][^=\n{]*(?:,?[ \t]*$|=(?!=))|=(?!=)))"
)
_PYTHON_PARAMETERS = rb"(?m)^[ \t]*(?:async[ \t]+)?def[ \t]+\w+[ \t]*\(([^()]*)"
_PARAMETER = rb"(?:^|,)\s*\*{0,2}(" + _WORD + rb")"
_SCRIPT = (
    (
        rb"(?m)\b(?:function\*?|class|interface|type|enum|namespace)[ \t]+(" + _WORD + rb")"
        rb"|^(?:export[ \t]+)?(?:declare[ \t]+)?(?:const|let|var)[ \t]+(" + _WORD + rb")"
    ),
    (
        # a method, and no call with a function as its argument
        rb"(?m)^[ \t]+(?:(?:public|private|protected|static|async|get|set|override)[ \t]+)*"
        rb"(" + _WORD + rb")[ \t]*(?:<[^>\n]*>)?\((?![^\n]*=>[ \t]*\{[ \t]*$)"
        rb"[^\n]*\)?[^\n;]*\{[ \t]*$"
    ),
    (
        rb"(?m)^[ \t]*(?:this|exports|module\.exports|[\w$]+(?:\.prototype)?)\.(" + _WORD + rb")"
        rb"[ \t]*=(?![=>])"
    ),
)
# `export { readAll, default as readOne } from './read'`, and not from another package.
_EXPORTED = (
    rb"(?m)^export[ \t]+(?:type[ \t]+)?(?:\{([^{}]*)\}|\*[ \t]+as[ \t]+("
    + _WORD
    + rb"))(?![ \t]*from[ \t]*[\"'][^.\"'])"
)
# The members of an enumeration, with others on their line; `;` and a block end them.
_ENUMERATION = (
    rb"\benum\b[^{}();=]{0,100}(?:\([^()]{0,300}\)[^{}();=]{0,100})?\{"
    rb"((?:[^{};/]++|//[^\n]*+|/)*+)"
)
_NO_MEMBER = rb"//[^\n]*|/\*(?:[^*\n]|\*(?!/))*+(?:\*/)?|\([^()]*\)|\[[^\[\]]*\]"
_MEMBER = rb"(?:^|,)\s*(" + _WORD + rb")\s*(?=[,=]|$)"
# Keys; in TypeScript one that ends with a comma is an argument for something else.
# `goBack: history.goBack` passes on what somebody else defines.
_KEY = (
    (rb"""(?m)^[ \t]*["']?(""" + _WORD + rb"""(?:-\w+)*)["']?[ \t]*:(?!:)(?![ \t]*[\w.]+\.\1\b)"""),
)
_FIELD = (
    (
        rb"(?m)^[ \t]*(?:(?:public|private|protected|static|readonly|override|declare"
        rb"|abstract)[ \t]+)*[\"']?("
        + _WORD
        + rb"(?:-\w+)*)[\"']?(?:[?!][ \t]*:|[ \t]*:(?!:)[^\n]*[^,{(\[\s][ \t]*$)"
    ),
    # a function, and a value of a union: `| "readOnly"`
    rb"(?m)^[ \t]+(" + _WORD + rb")[ \t]*:[ \t]*(?:async[ \t]*)?(?:\([^()\n]*\)|\w+)[^=\n]{0,80}=>",
    (rb"""(?<!\|)\|[ \t]*["']([A-Za-z][\w-]*)["']"""),
)
_GO = (
    # only names with a capital letter are public
    (rb"(?m)^func[ \t]+(?:\([^()\n]*\)[ \t]*)?([A-Z]\w*)"),
    (rb"(?m)^(?:type|const|var)[ \t]+([A-Z]\w*)"),
    (rb"(?m)^\t+([A-Z]\w*)[ \t]+(?:=|[\[\]*\w.]+[ \t]*(?:=|`|//|$))"),
    (rb"""(?:json|yaml|toml|mapstructure|hcl):"([A-Za-z_][\w-]*)"""),
    # a setting that is read from a map: `location.Config["repoPrefix"]`
    (rb"""(?:[cC]onfig|[oO]ptions|[sS]ettings|[pP]arams)\["([A-Za-z_][\w-]*)"\]"""),
)
_RUST = (
    (
        rb"\b(?:fn|struct|enum|trait|type|const|static|mod|union|macro_rules!)[ \t]+(?:mut[ \t]+)?"
        rb"(" + _WORD + rb")"
    ),
    (rb"(?m)^[ \t]+(?:pub(?:\([^)]*\))?[ \t]+)?(" + _WORD + rb")[ \t]*:(?!:)"),
    (rb"(?m)^[ \t]+([A-Z]\w*)[ \t]*(?:\([^()\n]*\)|\{)?,?[ \t]*$"),
)
# What begins no declaration, though a name and brackets may follow, and what comes before a class
# that another extends: `class Reader : Source(1)`.
_NO_STATEMENT = (
    rb"(?!(?:return|throw|new|await|yield|delete|else|case|goto|co_\w+)\b"
    rb"|(?:using|use|import|package)\b[^=\n]*;)"
)
_NO_PARENT = rb"(?<![:,][ \t])(?<!\bby[ \t])(?<!\bextends[ \t])(?<!\bwith[ \t])"
_BRACES = (
    (
        rb"\b(?:class|struct|interface|enum(?:[ \t]+(?:class|struct))?|trait|record|object"
        rb"|union|namespace|typedef|func|function|const|define|protocol|extension|case)[ \t]+("
        + _WORD
        + rb")"
    ),
    # of Protocol Buffers
    (rb"(?m)^[ \t]*(?:message|service|rpc)[ \t]+(" + _WORD + rb")[ \t]*[{(]"),
    # see SUFFIX
    (rb"\bclass[ \t]+(\w+)Attribute\b"),
    # `[Option("read-timeout")]`, `@JsonProperty("readTimeout")`
    (
        rb"[\[@]\w{0,40}(?:Option|Name|Argument|Parameter|Property|Command|Field)\w{0,40}\("
        rb"""(?:\w+[ \t]*=[ \t]*)?"(?:--)?([A-Za-z][\w-]*)\""""
    ),
    # what a call may leave out, and else often names: `bool printSource = false`, `size: Int = 1`
    (
        rb"(?<=[(,])[ \t]*(?:[\w<>\[\]?.]+[ \t]+)+[*&$]?("
        + _WORD
        + rb")[ \t]*=[ \t]*[^,()=\n]+(?=[,)])"
    ),
    (
        rb"(?<=[(,])[ \t]*(?:va[lr][ \t]+)?("
        + _WORD
        + rb")[ \t]*:[ \t]*[\w<>\[\]?.]+[ \t]*=[^,()=\n]+(?=[,)])"
    ),
    # also of what it extends: `fun <T> List<T>.second()`
    (
        rb"\b(?:fun|val|var)[ \t]+(?:<[^\n=({]{0,80}?>[ \t]*)?"
        rb"(?:\w+(?:<[^\n=({]{0,80}?>)?\??\.){0,4}(" + _WORD + rb")"
    ),
    (
        rb"(?m)^[ \t]*"
        + _NO_STATEMENT
        + rb"(?:[\w<>,*&\[\]?:]+[ \t]+)+"
        + _NO_PARENT
        + rb"[*&]?("
        + _WORD
        + rb")[ \t]*(?:<[^<>()\n]*>)?\([^;\n]*(?:\{|,|\))[ \t]*$"
    ),
    # a method of an interface: `void Map<T>(T source);`
    (
        rb"(?m)^[ \t]+"
        + _NO_STATEMENT
        + rb"(?:[\w<>,*&\[\]?:]+[ \t]+)+[*&]?("
        + _WORD
        + rb")[ \t]*(?:<[^<>()\n]*>)?\([^;\n]*\)[ \t]*"
        rb"(?:(?:const|override|noexcept|=[ ]?0)[ \t]*)*;[ \t]*$"
    ),
    (
        rb"(?m)^[ \t]*"
        + _NO_STATEMENT
        + rb"(?:[\w<>,*&\[\]?:]+[ \t]+)+[*&$]?("
        + _WORD
        + rb")[ \t]*(?:=[^=\n]*)?;"
    ),
    # a property: `public int PageSize { get; set; }`, `public int PageSize => 1;`
    (
        rb"(?m)^[ \t]+(?:[\w<>,\[\]?:.]+[ \t]+)+"
        + _NO_PARENT
        + rb"("
        + _WORD
        + rb")\s*\{\s*(?:\w+[ \t]+)?(?:get|set|init)\b(?![ \t]*[.(])"
    ),
    (
        rb"(?m)^[ \t]+(?:public|protected|internal)[ \t]+(?:[\w<>,\[\]?:.]+[ \t]+)+("
        + _WORD
        + rb")[ \t]*(?:<[^<>()\n]*>)?(?:\([^;\n]*\))?[ \t]*=>"
    ),
    (rb"(?m)^[ \t]+([A-Z][A-Z0-9_]+)[ \t]*(?:\(|,|=|;)"),
    # of an enumeration, alone on its line
    (rb"(?m)^[ \t]+([A-Z]\w*)[ \t]*(?:=[ \t]*[\w|<>. \t]+)?,[ \t]*$"),
)
_SHELL = (
    # `NAME=1`, and `NAME ?= 1` in a makefile
    (
        rb"(?m)^[ \t]*(?:(?:export|local|readonly|ARG|ENV)[ \t]+)?("
        + _WORD
        + rb")(?:[ \t]*[?:+]{0,2})="
    ),
    (rb"(?m)^[ \t]*(?:function[ \t]+)?(" + _WORD + rb")[ \t]*\(\)"),
    (rb"\$\{(" + _WORD + rb"):?[-=?]"),
    (rb"(?m)^[ \t]*-{1,2}[\w|-]*?--([A-Za-z][\w-]+)[|)=]|^[ \t]*--([A-Za-z][\w-]+)[|)=]"),
)
_STYLE = (
    (rb"(?m)^[ \t]*--([A-Za-z][\w-]*)[ \t]*:"),
    (rb"(?m)^[ \t]*[$@]([A-Za-z][\w-]*)[ \t]*:"),
)
_OTHER = (
    (
        rb"\b(?:defp?|def(?:macro|guard)p?|defdelegate|class|module|function|sub|fn|proc|macro"
        rb"|template)[ \t]+(?:self\.)?(" + _WORD + rb")"
    ),
    # of Elixir: a module, a callback, an option in a schema
    (rb"\bdef(?:module|protocol)[ \t]+(?:\w+\.)*(" + _WORD + rb")"),
    (rb"@(?:macro)?callback[ \t]+(" + _WORD + rb")"),
    (rb"(?m)^[ \t]*(" + _WORD + rb"):[ \t]+\[\s*(?:type|required|default|doc|keys):"),
    (rb"(?m)^[ \t]*@?(" + _WORD + rb")[ \t]*=(?![=~>])"),
    (
        rb"\b(?:(?:thread_)?[mc]?attr_(?:accessor|reader|writer)|class_attribute|config_accessor)"
        rb"[ \t(]+:(" + _WORD + rb")"
    ),
    # of SQL: `CREATE OR REPLACE FUNCTION app.read_all(`
    (
        rb"(?i)\bcreate[ \t]+(?:or[ \t]+replace[ \t]+)?"
        rb"(?:function|procedure|aggregate|view|table|type|domain)[ \t]+"
        rb"(?:if[ \t]+not[ \t]+exists[ \t]+)?(?:\w+\.)?(" + _WORD + rb")"
    ),
    # of CMake
    (rb"(?mi)^[ \t]*(?:macro|function|option)[ \t]*\([ \t]*(" + _WORD + rb")"),
)
_LISP = (
    (
        rb"(?m)^[ \t]*\((?:[\w.]+/)?(?:cl-)?def[\w-]*\*?[ \t]+(?:\^\S+[ \t]+)?[('\"]?"
        rb"([A-Za-z_][\w-]*)"
    ),
)
# Of Haskell, OCaml, F# and Elm; the last is an option that a parser gets.
_FUNCTIONAL = (
    (rb"(?m)^[ \t]*(?:[{,][ \t]*)?(" + _WORD + rb")[ \t]*::?[ \t]"),
    (rb"\b(?:data|newtype|type|class|module|exception)[ \t]+(?:rec[ \t]+)?(" + _WORD + rb")"),
    (
        rb"(?m)^[ \t]*(?:let|val|external|member)[ \t]+(?:(?:rec|inline|mutable)[ \t]+|\w+\.)*"
        rb"(" + _WORD + rb")"
    ),
    (rb"(?m)^[ \t]*[=|][ \t]*([A-Z]\w*)"),
    (rb"""\b(?:long|switch|option|flag)[ \t(]+"([a-z][\w-]*)\""""),
)
# Nix and Terraform
_DECLARED = (
    (rb"(?m)^[ \t]*(" + _WORD + rb"(?:-\w+)*)[ \t]*=[ \t]*(?:lib\.)?mk\w*Option\b"),
    (rb"""(?m)^(?:variable|output|module|(?:resource|data)[ \t]+"[\w-]+")[ \t]+"([\w-]+)\""""),
)
_PATTERNS: dict[Language, tuple[bytes, ...]] = {
    "python": (),
    "script": _SCRIPT,
    "typed script": _SCRIPT,
    "go": _GO,
    "rust": _RUST,
    "braces": _BRACES,
    "shell": _SHELL,
    "style": _STYLE,
    "data": (),
    "lisp": _LISP,
    "functional": _FUNCTIONAL,
    "declarative": _DECLARED,
    "other": _OTHER,
}
# What a script reads from its options is a setting, which nothing else defines.
_SETTINGS = (
    (rb"\b(?:\w*[cC]onfig|\w*[oO]ptions|opts|settings)\??\.(" + _WORD + rb")\b(?![ \t]*\()"),
)
_KEYS = {
    "python": (
        (rb"""(?m)^[ \t]*["']([A-Za-z_][\w-]*)["'][ \t]*:"""),
        # `getattr(view, "page_size", None)`, `kwargs.pop("page_size")`
        (rb"""\bgetattr\([\w.]+,[ ]*["'](""" + _WORD + rb""")["']"""),
        (
            rb"""(?:kwargs|options|opts|config|conf|settings|params)(?:\[|\.(?:get|pop|setdefault)\()"""
            rb"""["'](""" + _WORD + rb""")["']"""
        ),
    ),
    # what a program reads as its defaults, or as the schema of what its users write
    "data": (
        (rb"""(?m)^[ \t{,-]*["']?([A-Za-z_][\w-]*)["']?[ \t]*:(?!:)"""),
        (rb"""(?m)^([A-Za-z_][\w-]*)[ \t]*="""),
        (rb"""(?m)^\[+(?:[\w.-]+\.)?([A-Za-z][\w-]*)\]+[ \t]*$"""),
    ),
    "declarative": ((rb"(?m)^[ \t]*(" + _WORD + rb"(?:-\w+)*)[ \t]*="),),
    "script": (*_KEY, *_SETTINGS),
    "typed script": (*_FIELD, *_SETTINGS),
}
# Comments mention names that others define, and examples of them.
_COMMENT_LINES = rb"(?m)^[ \t]*(?://|/\*|\*[ \t/]|#+[ \t]).*"
# Of Elixir: `@moduledoc """` and the like.
_DOCS = rb'''(?s)@(?:module|type)?doc[ \t]+(?:~[sS])?"""(?:[^"\\]|\\.|"(?!""))*+"""'''
# Options of several words in quotes, environment variables that are read.
_OPTION = rb"""["'](--[a-zA-Z]\w*[.-][\w.-]*\w|--[a-z]+[A-Z]\w*)(?=["'`= ,/\[<])"""
# getenv, environ.get, lookup_env and the like; a set of letters is found faster than `(?i:env`
# `--format` in any source, and where a program makes it: a call has options of others, too.
_WORD_OPTION = rb"(?<![\w-])--[a-z][a-z0-9]+(?![\w-])"
_WORD_OPTION_MADE = (
    rb"""(?:add_argument|add_option|[oO]ption|add_flag)\([ \t\n]*(?:["']-\w["'],[ \t]*)?"""
    rb"""["'](?:-\w,[ ])?(--[a-z][a-z0-9]+)(?=["'= ])"""
)
_ENVIRONMENT = (
    rb"""[eE][nN][vV](?:\w*|::(?i:var(?:_os)?))!?"""
    rb"""(?:\(|\[|\.|\.get\()[ ]?["'`]?([A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+)\b"""
)
# `envvar="CLIENT_TRACE"`, `const traceEnv = "…"`, `EnvVars: []string{"…"}`: what is read elsewhere.
_ENVIRONMENT_NAME = (
    rb"""[eE][nN][vV]\w*[ \t]*(?::[ \t]*&?(?:'static )?\w+[ \t]*)?(?::=|=|:)[ \t]*"""
    rb"""(?:\[\]string\{|[\[(])?["'`]([A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+)["'`]"""
)
# The value of a constant, of an enumeration, of what has a name: `Store Kind = "objectstore"`.
_VALUE = rb"""(?m)[\w)\]][ \t]+=[ \t]+["']([A-Za-z][a-z0-9]{4,}(?:-[a-z0-9]+)*)["'][,;]?[ \t]*$"""
# One of three words or more, such as the name of a metric, is a name.
_LONG_VALUE = (
    rb"""(?m)[\w)\]][ \t]+:?=[ \t]+["']([a-z][a-z0-9]*(?:_[a-z0-9]+){2,})["'][,;]?[ \t]*$"""
)
# What a program gives a name, and a constant of several words in quotes, which may be the name of a
# variable: `{Name: "page_size"}`, `describe("PAGE_SIZE")`.
_NAMED = rb"""\b[nN]ame["']?[ \t]*[:=][ \t]*["']([A-Za-z][A-Za-z0-9]*(?:[_-][A-Za-z0-9]+)+)["']"""
_CONSTANT = rb"""["'`]([A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+)["'`]"""
# The name of a metric, an event or a table: `counter!("app_requests_total", 1)`.
_QUOTED_NAME = rb"""["']([a-z][a-z0-9]*(?:_[a-z0-9]+){2,})["']"""
_FLAG = (
    rb"""\b(?:\w*(?:Flag|Var|VarP|VarPF|P)|Bool|String|Int|Int64|Uint|Duration|Float64|StringSlice"""
    rb"""|StringArray|long|name|Name|switch|flag|option|with_name|new|alias|visible_alias|name_long)"""
    rb"""(?:\(|[ ]?[=:][ ]?)(?:&?[\w.]+,[ ]?)?(?:\w+[ ]?\+[ ]?)?"""
    rb"""["'`]((?:--)?[a-z][a-z0-9]*(?:[-.][a-z0-9]+)+)["'`]"""
)
# What _FLAG ends with, which takes a third of the time to find.
_QUOTED_OPTION = rb"""["'`](?:--)?[a-z][a-z0-9.]*(?:-[a-z0-9]|\.[a-z0-9]+\.[a-z])"""
# Variables that many programs read.
_CONVENTION = (
    r"(?i)(?:https?|ftp|all|no)_proxy|ssl_cert_\w+|(?:no|force)_color|clicolor\w*|node_env|xdg_\w+"
    r"|lc_\w+|otel_\w+|github_\w+|gitlab_\w+|aws_\w+|source_date_epoch|ld_library_path|python\w*path|java_home"
    r"|virtual_env"
    # what a component of Angular or React overrides
    r"|ng(?:on|do|after)[a-z]+|component(?:did|will)[a-z]+|shouldcomponentupdate"
    # names with two underscores that have a meaning in Python, whoever defines them
    r"|__(?:init\w*|new|del|repr|str|bytes|format|hash|bool|call|len|length_hint|iter|next|reversed"
    r"|contains|missing|index|int|float|complex|round|trunc|floor|ceil|eq|ne|lt|le|gt|ge|(?:get|set|del)"
    r"(?:attr|item)?|getattribute|dir|set_name|slots|dict|weakref|doc|name|qualname|module|class"
    r"|class_getitem|bases|base|mro|mro_entries|subclasses|subclasshook|prepare|instancecheck"
    r"|subclasscheck|annotations|type_params|all|author|version|copyright|license|email|file|path"
    r"|main|package|loader|spec|cached|builtins|import|future|debug|enter|exit|a(?:enter|exit|iter"
    r"|next)|await|copy|deepcopy|replace|reduce|reduce_ex|getstate|setstate|getnewargs\w*|sizeof"
    r"|post_init|match_args|dataclass_fields|fspath|wrapped|self|func|code|globals|closure|defaults"
    r"|kwdefaults|cause|context|traceback|suppress_context|notes|buffer|release_buffer|divmod|neg"
    r"|pos|abs|invert|[ri]?(?:add|sub|mul|matmul|truediv|floordiv|mod|pow|lshift|rshift|and|xor|or)"
    r"|rdivmod|div|unicode|nonzero|cmp|array\w*|typename|tests?|mocks|fixtures|snapshots|esmodule"
    r"|dirname|filename|proto)__"
)
# `"task_" + name`, f"{kind}_timeout", "%s_timeout"
_BEGINNING = rb"""["'`}]([A-Za-z][\w-]{2,})[_-](?=["'`{$%]|%s|\{)"""
_AFTER_BEGINNING = rb"""[_-](?=\$?\{|%[sdv]|["'`])"""
_NAME_CHARACTERS = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-"
_ENDING = rb"""(?:[}"'`]|%[sdv])[_-]([A-Za-z][\w-]{2,})"""


class Definitions(NamedTuple):
    """The names that a source defines, and those that are only keys or fields in it.

    A key may as well be an argument for somebody else's function, or describe such a function.
    """

    names: frozenset[str]
    keys: frozenset[str]


NO_DEFINITIONS = Definitions(frozenset(), frozenset())


def language_of(path: str) -> Language | None:
    """Return the language of a source file by its path; None: its names are not defined there."""
    name = re.sub(_TEMPLATE, "", path.rpartition("/")[2].lower())
    if name in {"makefile", "gnumakefile", "dockerfile"}:
        return "shell"
    if is_cmake(name):
        return "other"
    return _LANGUAGES.get(name.rpartition(".")[2]) if "." in name else None


def is_cmake(name: str) -> bool:
    """Return whether a file is written for CMake though it ends in `.txt`, by its name."""
    return name.lower() == "cmakelists.txt"


def is_program(path: str) -> bool:
    """Return whether a source is in a programming language, by its path."""
    return language_of(path) not in {None, "data"}


def find_keys(data: bytes) -> frozenset[int]:
    """Return the keys of all names that occur in a source, folded; none in a binary file.

    They include those of fragments (`read*`, `*timeout`) from which it builds names when it runs.
    """
    return _find_keys(data[:MAX_BYTES]) if _is_text(data) else frozenset()


def find_keys_of_versions(versions: Iterable[bytes]) -> frozenset[int]:
    """Return what `find_keys` finds in all these versions of a source together.

    Most of their lines are the same, and each is read once.
    """
    seen: set[bytes] = set()
    keys: set[int] = set()
    for data in versions:
        if _is_text(data):
            new_lines = set(data[:MAX_BYTES].split(b"\n")) - seen
            keys |= _find_keys(b"\n".join(new_lines))
            seen |= new_lines
    return frozenset(keys)


def _find_keys(data: bytes) -> frozenset[int]:
    lower = data.lower()
    tokens = set(re.findall(_TOKEN, lower))
    for token in [token for token in tokens if b"-" in token]:
        tokens.update(token.split(b"-"))
    folded = {_fold(token) for token in tokens}
    folded.update([name.removesuffix(SUFFIX) for name in folded if name.endswith(SUFFIX)])
    folded.discard("")
    folded.update(option.decode() for option in re.findall(_WORD_OPTION, lower))
    beginnings = {*re.findall(_BEGINNING, data), *_find_beginnings(data)}
    folded.update(_fold(name) + "*" for name in beginnings)
    folded.update("*" + _fold(name) for name in re.findall(_ENDING, data))
    folded.update(fold_name(name.decode("utf-8", "replace")) for name in re.findall(_DOTTED, lower))
    dunders = [token for token in tokens if token.startswith(b"__") and token.endswith(b"__")]
    folded.update(name.decode("utf-8", "replace") for name in dunders)
    return frozenset([name_key(name) for name in folded])


def _is_text(data: bytes) -> bool:
    return b"\0" not in data[:BINARY_PREFIX_BYTES]


@lru_cache(maxsize=16)  # a change of few files asks for each of them several times
def find_definitions(data: bytes, language: Language) -> Definitions:
    """Return the names that a source in this language defines, as written.

    A variable of a function is none, a parameter is one. Names that begin with "_" are
    private, except `__names__` without a meaning in the language.
    """
    if not _is_text(data):
        return NO_DEFINITIONS
    data = without_comment_lines(data)
    if language == "other":
        data = re.sub(_DOCS, b"", data)
    found: set[bytes] = set()
    keys: set[bytes] = set()
    for pattern in _PATTERNS[language]:
        _add(found, re.findall(pattern, data))
    for pattern in _KEYS.get(language, ()):
        _add(keys, re.findall(pattern, data))
    if language == "python":
        found.update(_find_in_python(data))
    if language in {"script", "typed script"}:
        found.update(_find_exported(data))
    if language in {"braces", "typed script"}:
        found.update(_find_members(data))
    found.update(re.findall(_OPTION, data))
    found.update(re.findall(_WORD_OPTION_MADE, data))
    found.update(re.findall(_ENVIRONMENT, data))
    found.update(re.findall(_ENVIRONMENT_NAME, data))
    found.update(re.findall(_LONG_VALUE, data))
    keys.update(re.findall(_VALUE, data))
    if language not in {"data", "style", "declarative"}:
        keys.update(re.findall(_NAMED, data))
        keys.update(re.findall(_CONSTANT, data))
        keys.update(re.findall(_QUOTED_NAME, data))
    if re.search(_QUOTED_OPTION, data):
        found.update(re.findall(_FLAG, data))
    return Definitions(_decode(found), _decode(keys - found))


def without_comment_lines(data: bytes) -> bytes:
    """Return a source, as far as it is read, without the lines that are nothing but a comment."""
    return re.sub(_COMMENT_LINES, b"", data[:MAX_BYTES])


def _find_beginnings(data: bytes) -> Iterator[bytes]:
    """Yield the names before `{` or `%s` in a text; one pattern takes ten times as long."""
    for text in re.split(_AFTER_BEGINNING, data)[:-1]:
        name = text[len(text.rstrip(_NAME_CHARACTERS)) :].lstrip(b"0123456789_-")
        if name:
            yield name


def _decode(names: set[bytes]) -> frozenset[str]:
    decoded = [
        name.decode("utf-8", "replace")
        for name in names
        if name[:1] != b"_" or re.fullmatch(_DUNDER, name)
    ]
    return frozenset([name for name in decoded if not re.fullmatch(_CONVENTION, name)])


def _find_exported(data: bytes) -> Iterator[bytes]:
    """Yield the names under which a module of a script exports what it, or another, defines."""
    for names, module in re.findall(_EXPORTED, data):
        if module:
            yield module
        for part in names.split(b","):
            words = re.findall(rb"\w+", part)
            if words and words[-1] != b"default":
                yield words[-1]


def _find_members(data: bytes) -> Iterator[bytes]:
    """Yield the members of enumerations."""
    for members in re.findall(_ENUMERATION, data):
        yield from re.findall(_MEMBER, re.sub(_NO_MEMBER, b"", members))


def _find_in_python(data: bytes) -> Iterator[bytes]:
    """Yield the names that a module defines: no variable of a function, but its parameters."""
    blocks: list[tuple[int, bytes]] = []  # the indentation and keyword of the blocks around a line
    for indent, keyword, block, attribute, variable in re.findall(_PYTHON_LINES, data):
        depth = len(indent)
        if keyword or variable:
            while blocks and blocks[-1][0] >= depth:
                blocks.pop()
        if keyword:
            if not (blocks and blocks[-1][1] == b"def"):
                yield block
            blocks.append((depth, keyword))
        elif variable:
            if not blocks or blocks[-1][1] == b"class":
                yield variable
        else:
            yield attribute
    for parameters in re.findall(_PYTHON_PARAMETERS, data):
        yield from re.findall(_PARAMETER, parameters)


def _add(found: set[bytes], matches: list[bytes] | list[tuple[bytes, ...]]) -> None:
    for match in matches:
        if isinstance(match, bytes):
            found.add(match)
        else:
            found.update(name for name in match if name)


def _fold(name: bytes) -> str:
    private = b"_" if name[:1] == b"_" else b""
    return (private + name.translate(None, b"-_")).lower().decode("utf-8", "replace")
