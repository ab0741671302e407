"""Find the definitions in a source file and their tokens, with the grammars of ast-grep.

ast-grep is the extra `symbols`. Its grammars tell where definitions are; which kinds of nodes are
definitions, and where their names are, is the table `_GRAMMARS`.
"""

import os
import re
import sys
from collections.abc import Mapping
from functools import cache
from importlib.util import find_spec
from itertools import takewhile
from typing import TYPE_CHECKING, Any, NamedTuple

from ubp.core.model import FilePath
from ubp.core.source import Part, digest

if TYPE_CHECKING:
    from ast_grep_py import SgNode

# Larger files are generated; a parse takes 5 ms for 100 kB.
MAX_BYTES = 2_000_000
# The largest of 17,900 Python files has 2,700; 20,000 take 0.8 s.
MAX_DEFINITIONS = 20_000
# Some grammars take quadratic time: 65 ms at this depth, 25 s at 100,000.
MAX_NESTING = 5_000
# For the column of a node ast-grep counts the characters before it on its line, here for 0.2 s.
MAX_COLUMNS = 500_000_000
# The version of what `Symbols` returns for the same bytes and the same ast-grep.
VERSION = 3

_SUFFIXES: Mapping[str, str] = {
    suffix: language
    for language, suffixes in {
        "python": "py pyi",
        "javascript": "js mjs cjs jsx",
        "typescript": "ts mts cts",
        "tsx": "tsx",
        "go": "go",
        "rust": "rs",
        "java": "java",
        "kotlin": "kt kts",
        "c": "c",
        "cpp": "cc cpp cxx c++ h hh hpp hxx h++ ipp",
        "csharp": "cs",
        "ruby": "rb rake gemspec",
        "php": "php",
        "swift": "swift",
        "scala": "scala sc",
        "lua": "lua",
        "bash": "sh bash",
        "dart": "dart",
        "yaml": "yaml yml",
        "json": "json",
        "hcl": "hcl tf tfvars",
    }.items()
    for suffix in suffixes.split()
}


def find_language(path: FilePath) -> str | None:
    """Return the grammar for a file by its suffix; None: its symbols cannot be found."""
    return _SUFFIXES.get(path.rpartition("/")[2].rpartition(".")[2].lower())


# Languages whose files use each other's names.
_RELATED = {"tsx": "script", "typescript": "script", "javascript": "script", "cpp": "c"}
_NO_PROGRAMS = frozenset({"bash", "yaml", "json", "hcl"})


def program_language(name: str) -> str | None:
    """Return the programming language with a name or a suffix, one for those related to each other.

    None: it is none, or unknown.

    >>> program_language("tsx"), program_language("javascript"), program_language("yaml")
    ('script', 'script', None)
    """
    suffix_language = _SUFFIXES.get(name.lower())
    language = suffix_language or (name.lower() if name.lower() in _GRAMMARS else None)
    return None if language in _NO_PROGRAMS else _RELATED.get(language or "", language)


@cache
def parser_version() -> str | None:
    """Return the version of the parser and its grammars; None: ast-grep is not installed."""
    spec = find_spec("ast_grep_py")
    if spec is None or spec.origin is None:
        return None
    # `importlib.metadata` would do the same, but importing it takes 15 ms.
    packages = os.path.dirname(os.path.dirname(spec.origin))
    names = [name for name in os.listdir(packages) if name.startswith("ast_grep_py-")]
    return " ".join([*sorted(names), str(VERSION)])


def read_symbols(data: bytes, language: str) -> "Symbols | None":
    """Return the definitions in a source file; None: it is too large, or has too many."""
    if len(data) > MAX_BYTES or _is_nested_deeply(data):
        return None
    symbols = Symbols(data, language)
    return None if symbols.is_partial else symbols


class Symbols:
    """The definitions in a source file, in order.

    The parser never fails: where a file has syntax errors, the definitions beside them are found.
    The tokens of a definition are read when it is asked for: that takes as long as parsing.
    """

    def __init__(self, data: bytes, language: str) -> None:
        """Parse a file."""
        from ast_grep_py import SgRoot

        self._grammar = _GRAMMARS[language]
        root = SgRoot(_decode(data), language).root()
        self._definitions, self.is_partial = _find_definitions(root, self._grammar)

    def find(self, symbol: str) -> tuple[Part, ...]:
        """Return all definitions of a name: `login`, `Session.login`, `Parser::parse`.

        Definitions at the outermost level come first: only if none of them has that name, those
        within classes, modules and functions are searched for one whose qualified name ends so.
        """
        name = normalize_symbol(symbol)
        found = [definition for definition in self._definitions if definition.name == name]
        if not found:
            end = f".{name}"
            found = [other for other in self._definitions if other.name.endswith(end)]
        return tuple(self._part(definition) for definition in found)

    def all(self) -> tuple[Part, ...]:
        """Return all definitions."""
        return tuple(map(self._part, self._definitions))

    def spans(self) -> tuple[tuple[str, int, int], ...]:
        """Return the qualified name, first and last line of each definition, without its tokens."""
        return tuple(
            (definition.name, definition.node.range().start.line + 1, _last_line(definition.node))
            for definition in self._definitions
        )

    def _part(self, definition: "_Definition") -> Part:
        nodes = _whole(definition.node, self._grammar)
        tokens = [token for node in nodes for token in _tokens(node)]
        simple_name = definition.name.rpartition(".")[2]
        return Part(
            (definition.name,),
            digest(tokens),
            digest("" if token == simple_name else token for token in tokens),
            nodes[0].range().start.line + 1,
            _last_line(nodes[-1]),
        )


_SEARCHED, _UNNAMED = "?", "-"


class _Grammar(NamedTuple):
    """The kinds of nodes that define something, and how their tokens are delimited.

    `names`: the field with the name, by kind; "?": the grammar has none, so that the name is
    searched for; "-": a function without a name. `variables` define something only outside
    `functions`, where they are not local variables; `assignments` only if a function is assigned.
    `wrappers` belong to the only definition in them, `prefixes` to the definition that follows.
    `has_keys`: names are keys, which may contain any character. `only_constants`: of the
    variables, only those that begin with a capital letter.
    """

    names: Mapping[str, str]
    functions: frozenset[str] = frozenset()
    variables: frozenset[str] = frozenset()
    assignments: frozenset[str] = frozenset()
    wrappers: frozenset[str] = frozenset()
    prefixes: frozenset[str] = frozenset()
    has_keys: bool = False
    only_constants: bool = False


def _grammar(  # noqa: PLR0913  # the columns of the table below
    names: str,
    functions: str = "",
    *,
    variables: str = "",
    assignments: str = "",
    wrappers: str = "",
    prefixes: str = "",
    has_keys: bool = False,
    only_constants: bool = False,
) -> _Grammar:
    """Return a grammar from words; `kind:field` where the field is not `name`."""
    words = [*functions.split(), *names.split(), *variables.split(), *assignments.split()]
    pairs = (word.partition(":") for word in words)
    return _Grammar(
        {kind: field or "name" for kind, _, field in pairs},
        frozenset(word.partition(":")[0] for word in functions.split()),
        frozenset(word.partition(":")[0] for word in variables.split()),
        frozenset(word.partition(":")[0] for word in assignments.split()),
        frozenset(wrappers.split()),
        frozenset(prefixes.split()),
        has_keys,
        only_constants,
    )


_JAVASCRIPT_FUNCTIONS = (
    "function_declaration generator_function_declaration method_definition arrow_function:-"
    " function_expression:- generator_function:-"
)
_JAVASCRIPT_WRAPPERS = (
    "export_statement lexical_declaration variable_declaration expression_statement"
)
_TYPESCRIPT = _grammar(
    "class_declaration abstract_class_declaration interface_declaration type_alias_declaration"
    " enum_declaration enum_assignment internal_module module public_field_definition"
    " property_signature method_signature abstract_method_signature function_signature",
    _JAVASCRIPT_FUNCTIONS,
    variables="variable_declarator pair:key",
    assignments="assignment_expression:left",
    wrappers=f"{_JAVASCRIPT_WRAPPERS} ambient_declaration",
    prefixes="decorator",
)
_C_DEFINITIONS = (
    "preproc_def preproc_function_def struct_specifier union_specifier enum_specifier enumerator"
    " type_definition:declarator field_declaration:declarator"
)
_GRAMMARS: Mapping[str, _Grammar] = {
    "python": _grammar(
        "class_definition type_alias_statement:left",
        "function_definition",
        variables="assignment:left",
        wrappers="decorated_definition expression_statement",
    ),
    "javascript": _grammar(
        "class_declaration field_definition:property",
        _JAVASCRIPT_FUNCTIONS,
        variables="variable_declarator pair:key",
        assignments="assignment_expression:left",
        wrappers=_JAVASCRIPT_WRAPPERS,
        prefixes="decorator",
    ),
    "typescript": _TYPESCRIPT,
    "tsx": _TYPESCRIPT,
    "go": _grammar(
        "type_spec type_alias field_declaration method_elem",
        "function_declaration method_declaration func_literal:-",
        variables="const_spec var_spec",
        wrappers="type_declaration const_declaration var_declaration var_spec_list",
    ),
    "rust": _grammar(
        "struct_item enum_item union_item trait_item impl_item:type mod_item type_item"
        " macro_definition enum_variant field_declaration associated_type function_signature_item",
        "function_item closure_expression:-",
        variables="const_item static_item",
        prefixes="attribute_item",
    ),
    "java": _grammar(
        "class_declaration interface_declaration enum_declaration record_declaration enum_constant"
        " annotation_type_declaration annotation_type_element_declaration",
        "method_declaration constructor_declaration compact_constructor_declaration"
        " lambda_expression:-",
        variables="variable_declarator",
        wrappers="field_declaration",
    ),
    "kotlin": _grammar(
        "class_declaration:? object_declaration:? type_alias:? enum_entry:?",
        "function_declaration:? lambda_literal:-",
        variables="property_declaration:?",
    ),
    "c": _grammar(
        _C_DEFINITIONS,
        "function_definition:declarator",
        variables="declaration:declarator",
    ),
    "cpp": _grammar(
        f"{_C_DEFINITIONS} class_specifier namespace_definition alias_declaration"
        " concept_definition",
        "function_definition:declarator lambda_expression:-",
        variables="declaration:declarator",
        wrappers="template_declaration",
    ),
    "csharp": _grammar(
        "class_declaration struct_declaration interface_declaration record_declaration"
        " enum_declaration enum_member_declaration delegate_declaration namespace_declaration"
        " property_declaration event_declaration",
        "method_declaration constructor_declaration destructor_declaration"
        " local_function_statement lambda_expression:- anonymous_method_expression:-",
        variables="variable_declarator",
        wrappers="field_declaration event_field_declaration variable_declaration",
    ),
    "ruby": _grammar(
        "class module",
        "method singleton_method",
        variables="assignment:left",
        only_constants=True,
    ),
    "php": _grammar(
        "class_declaration interface_declaration trait_declaration enum_declaration enum_case"
        " const_element:? property_element:?",
        "function_definition method_declaration",
        wrappers="const_declaration property_declaration",
    ),
    "swift": _grammar(
        "class_declaration protocol_declaration typealias_declaration enum_entry"
        " protocol_function_declaration protocol_property_declaration:?",
        "function_declaration init_declaration lambda_literal:-",
        variables="property_declaration:?",
    ),
    "scala": _grammar(
        "class_definition object_definition trait_definition enum_definition simple_enum_case"
        " full_enum_case type_definition given_definition function_declaration",
        "function_definition lambda_expression:-",
        variables="val_definition:pattern var_definition:pattern",
    ),
    "lua": _grammar(
        "",
        "function_declaration function_definition:-",
        variables="assignment_statement:? field",
        wrappers="variable_declaration",
    ),
    "bash": _grammar(
        "", "function_definition", variables="variable_assignment", wrappers="declaration_command"
    ),
    "dart": _grammar(
        "class_declaration:? mixin_declaration:? extension_declaration:? enum_declaration:?"
        " enum_constant:? type_alias:? constructor_signature",
        "function_declaration:? method_declaration:? function_expression:-",
        variables="initialized_identifier:? static_final_declaration:?",
        wrappers="class_member declaration initialized_identifier_list"
        " top_level_variable_declaration static_final_declaration_list",
        prefixes="annotation",
    ),
    "yaml": _grammar("block_mapping_pair:key flow_pair:key", has_keys=True),
    "json": _grammar("pair:key", has_keys=True),
    "hcl": _grammar("block attribute:? object_elem:key", has_keys=True),
}

# Without a field for the name, the outermost node of these kinds has it.
_NAME_KINDS = frozenset(
    [
        "identifier",
        "simple_identifier",
        "type_identifier",
        "field_identifier",
        "property_identifier",
        "name",
        "constant",
        "variable_name",
        "word",
        "qualified_identifier",
        "operator_name",
        "destructor_name",
        "user_type",
        "dot_index_expression",
    ]
)
_NOT_NAME_KINDS = frozenset(["modifiers", "annotation", "receiver_type", "parameter_list", "type"])
_TEXT_KINDS = ("string", "template", "heredoc", "scalar")
_MAX_NAME_DEPTH = 5
_SEVERAL_NAMES = frozenset(["enum_entry", "field_declaration", "constructor_signature"])
_FUNCTION_VALUES = frozenset(
    [
        "arrow_function",
        "function",
        "function_expression",
        "generator_function",
        "class",
        "function_definition",
        "lambda",
    ]
)
_SEPARATOR = re.compile(r"(?:->|[.:#\\])+")
_TYPE_ARGUMENTS = re.compile(r"<[^<>]*>|\[[^\[\]]*\]")
_NAME = re.compile(r"operator\W+|[\w$@~][\w$@~!?.]*")
# What a name begins with where a member of a module or a prototype is assigned.
_EXPORTS = re.compile(r"^(?:module\.)?exports\.|^this\.|\.prototype(?=\.)")


class _Definition(NamedTuple):
    """A definition and its qualified name."""

    name: str
    node: "SgNode"


class _Scope(NamedTuple):
    """What definitions are in; `end` is the character after it."""

    end: int
    name: str
    is_local: bool


def _is_nested_deeply(data: bytes) -> bool:
    """Return whether brackets of one kind, including those in strings, are nested too deeply."""
    for opening, closing in (b"()", b"[]", b"{}"):
        if data.count(opening) <= MAX_NESTING:
            continue
        depth = 0
        for bracket in data.translate(None, bytes({*range(256)} - {opening, closing})):
            depth = depth + 1 if bracket == opening else max(depth - 1, 0)
            if depth > MAX_NESTING:
                return True
    return False


def _find_definitions(root: "SgNode", grammar: _Grammar) -> tuple[list[_Definition], bool]:
    """Return the definitions, and whether there are more than may be read."""
    definitions: list[_Definition] = []
    columns = 0
    scopes = [_Scope(sys.maxsize, "", is_local=False)]
    for node in _find_kinds(root, tuple(grammar.names)):  # the outer ones come first
        span = node.range()
        columns += span.start.column + span.end.column
        if len(definitions) > MAX_DEFINITIONS or columns > MAX_COLUMNS:
            return definitions, True
        while scopes[-1].end <= span.start.index:
            scopes.pop()
        kind, scope = node.kind(), scopes[-1]
        if kind in grammar.assignments or (scope.is_local and kind in grammar.variables):
            value = node.field("right") or node.field("value")
            if value is None or value.kind() not in _FUNCTION_VALUES:
                continue
        names = [scope.name]
        if grammar.names[kind] != _UNNAMED:
            found = _find_names(node, kind, grammar)
            names = [f"{scope.name}.{name}".lstrip(".") for name in found]
            definitions += [_Definition(name, node) for name in names]
        if names:
            is_local = scope.is_local or kind in grammar.functions
            scopes.append(_Scope(span.end.index, names[0], is_local))
    return definitions, len(definitions) > MAX_DEFINITIONS


def _find_kinds(root: "SgNode", kinds: tuple[str, ...]) -> list["SgNode"]:
    """Return the nodes of these kinds; a kind that the grammar does not have is ignored."""
    rule: Any = {"any": [{"kind": kind} for kind in kinds]}
    try:
        return root.find_all({"rule": rule})
    except RuntimeError:  # another version of a grammar, or that of another dialect
        known = tuple(kind for kind in kinds if _is_kind(root, kind))
        return _find_kinds(root, known) if known and len(known) < len(kinds) else []


def _is_kind(root: "SgNode", kind: str) -> bool:
    try:
        root.find(kind=kind)
    except RuntimeError:
        return False
    return True


def _whole(node: "SgNode", grammar: _Grammar) -> list["SgNode"]:
    """Return a definition with what is around it and belongs only to it, after its prefixes."""
    kinds = grammar.names.keys() | grammar.wrappers
    while (parent := node.parent()) and parent.kind() in grammar.wrappers:
        if sum(child.kind() in kinds for child in parent.children()) != 1:
            break
        node = parent
    nodes = [node]
    for before in node.prev_all() if grammar.prefixes else ():
        if before.kind() in grammar.prefixes:
            nodes.insert(0, before)
        elif "comment" not in before.kind():
            break
    return nodes


def _tokens(root: "SgNode") -> list[str]:
    """Return the tokens of a node without its comments.

    They are the texts of the leaves and, because in some languages white space decides on the
    structure, the kinds of the nodes that have several children. Text between the children of a
    node is one, too: some grammars have no leaf for the text of a string. Without recursion:
    expressions may be nested deeply.
    """
    tokens = []
    text, first = root.text(), root.range().start.index
    stack: list[SgNode | str] = [root]
    while stack:
        node = stack.pop()
        if isinstance(node, str):
            tokens.append(node)
            continue
        children = node.children()
        if not children:
            leaf = node.text()
            if "comment" not in node.kind() and (not leaf.isspace() or _is_text(node.kind())):
                tokens.append(leaf)
            continue
        kind = node.kind()
        if "comment" in kind:
            continue
        if len(children) > 1:
            tokens.append(kind)
        is_text = _is_text(kind)
        end = node.range().end.index
        for child in reversed(children):
            span = child.range()
            between = text[span.end.index - first : end - first]
            if between and (is_text or not between.isspace()):
                stack.append(between)
            stack.append(child)
            end = span.start.index
        start = node.range().start.index
        between = text[start - first : end - first]
        if between and (is_text or not between.isspace()):
            stack.append(between)
    return tokens


def _is_text(kind: str) -> bool:
    """Return whether white space counts in a node: it is a string, or a part of one."""
    return any(word in kind for word in _TEXT_KINDS)


def _last_line(node: "SgNode") -> int:
    """Return the last line of a node, from 1; some end with the end of their last line."""
    span = node.range()
    return max(span.start.line + 1, span.end.line + (span.end.column > 0))


def _find_names(node: "SgNode", kind: str, grammar: _Grammar) -> list[str]:
    """Return the names that a node defines, relative to the definitions around it."""
    if kind == "block":  # of HCL: resource "aws_instance" "web" {
        labels = takewhile(lambda child: child.kind() != "block_start", node.children())
        return [normalize_symbol(".".join([label.text().strip('"') for label in labels]))]
    field = grammar.names[kind]
    nodes = _search_name(node) if field == _SEARCHED else node.field_children(field)
    if kind not in grammar.variables and field == "name":
        nodes = nodes if kind in _SEVERAL_NAMES else nodes[:1]
    texts = [_declared(found).text() for found in nodes]
    if grammar.has_keys:
        return [normalize_symbol(text.strip("\"'")) for text in texts]
    receiver = node.field("receiver") if kind == "method_declaration" else None
    if receiver:  # of Go: (s *Set[T])
        words = _NAME.findall(_TYPE_ARGUMENTS.sub("", receiver.text()))
        texts = [f"{words[-1]}.{text}" for text in texts] if words else texts
    if kind == "constructor_signature":  # of Dart: Session.named
        texts = ["".join(texts)]
    if kind == "init_declaration":
        texts = ["init"]
    names = [name for text in texts for name in _split_pattern(text)]
    if kind in grammar.variables and grammar.only_constants:
        return [name for name in names if name[0].isupper()]
    return names


def _declared(node: "SgNode") -> "SgNode":
    """Return what a declarator of C declares: `*login(int)` declares `login`."""
    while inner := node.field("declarator"):
        node = inner
    return node


def _search_name(node: "SgNode") -> list["SgNode"]:
    level = [node]
    for _ in range(_MAX_NAME_DEPTH):
        level = [
            child
            for outer in level
            for child in outer.children()
            if child.kind() not in _NOT_NAME_KINDS
        ]
        if found := [child for child in level if child.kind() in _NAME_KINDS]:
            return found[:1]
    return []


def _split_pattern(text: str) -> list[str]:
    """Return the names in the target of an assignment or definition: `A, B`, `{ a, b }`."""
    bare = _EXPORTS.sub("", _SEPARATOR.sub(".", _TYPE_ARGUMENTS.sub("", text)))
    names = (normalize_symbol(name) for name in _NAME.findall(bare))
    return [name for name in names if name]


def normalize_symbol(name: str) -> str:
    """Return a qualified name with dots: `Parser::parse`, `Session#login`, `M:out`, `f()`."""
    return _SEPARATOR.sub(".", name.strip().removesuffix("()")).strip(".$")


def _decode(data: bytes) -> str:
    data = data.removeprefix(b"\xef\xbb\xbf").replace(b"\r\n", b"\n")
    try:
        return data.decode()
    except UnicodeDecodeError:
        return data.decode("latin-1")
