"""Specifications that `ubp collections add NAME` knows: where they are, and under which licence.

The policy is `excerpt_only` where the licence does not allow copies of the whole text.
"""

from typing import Literal, NamedTuple


class Specification(NamedTuple):
    """A known specification; `include` is empty for every page or document."""

    name: str
    language: str
    kind: Literal["mirror", "import"]
    address: str
    include: tuple[str, ...]
    policy: Literal["fulltext", "excerpt_only"]
    licence: str


SPECIFICATIONS = (
    Specification(
        "go",
        "go",
        "import",
        "https://go.dev/ref/spec",
        (),
        "fulltext",
        "CC-BY-4.0",  # https://go.dev/copyright
    ),
    Specification(
        "rust",
        "rust",
        "mirror",
        "https://github.com/rust-lang/reference.git",
        ("src/**",),
        "fulltext",
        "MIT OR Apache-2.0",
    ),
    Specification(
        "typescript",
        "typescript",
        "mirror",
        "https://github.com/microsoft/TypeScript-Website.git",
        ("packages/documentation/copy/en/**",),
        "fulltext",
        "CC-BY-4.0",
    ),
    Specification(
        "csharp",
        "csharp",
        "mirror",
        "https://github.com/dotnet/csharpstandard.git",
        ("standard/**",),
        "fulltext",
        "CC-BY-4.0",
    ),
    Specification(
        "java",
        "java",
        "import",
        "https://docs.oracle.com/javase/specs/jls/se21/html/index.html",
        (),
        "excerpt_only",
        "Oracle JLS licence",
    ),
    Specification(
        "ecmascript",
        "ecmascript",
        "import",
        "https://tc39.es/ecma262/multipage/",
        (),
        "fulltext",
        "Ecma text copyright policy",
    ),
    Specification(
        "python",
        "python",
        "import",
        "https://docs.python.org/3/reference/index.html",
        (),
        "fulltext",
        "PSF-2.0",
    ),
    Specification(
        "graphql",
        "graphql",
        "mirror",
        "https://github.com/graphql/graphql-spec.git",
        ("spec/**",),
        "fulltext",
        "OWFa-1.0",
    ),
    Specification(
        "toml",
        "toml",
        "mirror",
        "https://github.com/toml-lang/toml.git",
        ("toml.md", "toml-v*.md"),
        "fulltext",
        "MIT",
    ),
    Specification(
        "commonmark",
        "commonmark",
        "mirror",
        "https://github.com/commonmark/commonmark-spec.git",
        ("spec.txt",),
        "fulltext",
        "CC-BY-SA-4.0",
    ),
    Specification(
        "swift",
        "swift",
        "mirror",
        "https://github.com/swiftlang/swift-book.git",
        ("TSPL.docc/**",),
        "fulltext",
        "Apache-2.0",
    ),
)
