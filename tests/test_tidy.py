"""What no linter checks: our classes are composed, not inherited from each other."""

import ast
from pathlib import Path

PACKAGE = Path(__file__).resolve().parent.parent / "ubp"


def class_definitions():
    for module in sorted(PACKAGE.rglob("*.py")):
        for node in ast.walk(ast.parse(module.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ClassDef):
                yield module.relative_to(PACKAGE).as_posix(), node


def base_names(node):
    bases = (base.value if isinstance(base, ast.Subscript) else base for base in node.bases)
    return {base.attr if isinstance(base, ast.Attribute) else base.id for base in bases}


def test_classes_inherit_from_our_errors_protocols_and_abcs_alone():
    definitions = list(class_definitions())
    concrete = {
        node.name
        for _, node in definitions
        if not node.name.endswith("Error") and not base_names(node) & {"Protocol", "ABC"}
    }
    inheriting = {
        f"{module}: {node.name}({base})"
        for module, node in definitions
        for base in base_names(node) & concrete
    }
    assert inheriting == set()
