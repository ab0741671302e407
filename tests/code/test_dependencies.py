"""What manifests require: another package, or version, is seen, whatever the format."""

import pytest

from ubp.code.dependencies import find_dependencies, is_dependency_manifest


@pytest.mark.parametrize(
    ("path", "before", "after"),
    [
        ("package.json", '{"dependencies": {"a": "1"}}', '{"dependencies": {"a": "2"}}'),
        ("web/package.json", '{"dependencies": {}}', '{"peerDependencies": {"a": "2"}}'),
        ("pyproject.toml", "[project]\ndependencies = []", "[project]\ndependencies = ['a']"),
        (
            "pyproject.toml",
            "[tool.poetry.dependencies]\na = '1'",
            "[tool.poetry.dependencies]\na = {version = '2', extras = ['b']}",
        ),
        ("Cargo.toml", "[dependencies]", '[dependencies]\na = "1"'),
        ("Cargo.toml", "", '[workspace.dependencies]\na = { git = "https://example.org" }'),
        ("go.mod", "require example.org/a v1.2.0", "require example.org/a v1.3.0"),
        ("requirements-docs.txt", "a==1.0", "a==1.1"),
        ("setup.py", "install_requires=['a>=1']", "install_requires=['a>=2']"),
        ("setup.cfg", "    a >= 1.0", "    a >= 1.0\n    b ~= 2.1"),
        ("Gemfile", "gem 'a', '~> 1.0'", "gem 'a', '~> 2.0'"),
        ("pom.xml", "<version>1</version>", "<version>2</version>"),
        ("build.gradle", "api 'org:a:1.0'", "api 'org:a:1.1'"),
    ],
)
def test_new_package_or_version_is_a_new_dependency(path, before, after):
    assert is_dependency_manifest(path)
    old, new = (find_dependencies(path, text.encode()) for text in (before, after))
    assert new - old


@pytest.mark.parametrize(
    ("path", "before", "after"),
    [
        ("package.json", '{"version": "1"}', '{"version": "2"}'),
        ("package.json", "{}", '{"devDependencies": {"a": "2"}}'),
        ("package.json", "{}", '{"dependencies": {"a": "workspace:*"}}'),
        ("package.json", "{", "["),
        ("pyproject.toml", "[project]\nversion = '1'", "[project]\nversion = '2'"),
        ("Cargo.toml", "[dependencies]", '[dependencies]\na = { path = "../a" }'),
        ("go.mod", "go 1.20", "go 1.21"),
        ("setup.py", "version='1.0'", "version='2.0'"),
    ],
)
def test_own_version_and_local_packages_are_no_dependency(path, before, after):
    old, new = (find_dependencies(path, text.encode()) for text in (before, after))
    assert not new - old


@pytest.mark.parametrize("path", ["src/package.py", "docs/require.md", "mkdocs.yml", "uv.lock"])
def test_other_files_are_no_manifests(path):
    assert not is_dependency_manifest(path)
