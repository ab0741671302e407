"""The meaning of a repository's pages: vectors made once, found again, shared."""

import os
import random
import shutil
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest

from ubp.core.errors import IndexDamagedError, ModelError, UsageError
from ubp.core.installation import install_command
from ubp.index.embed.locate import find_model
from ubp.index.embed.model import load_model
from ubp.index.facts import FileContents
from ubp.index.session import Target
from ubp.index.vectors import PAGES_PER_BATCH
from ubp.workspace import Workspace


@pytest.fixture
def encoded(monkeypatch):
    """The texts that models were asked about, in order."""
    from ubp.index.embed.model import Model

    batches, encode = [], Model.encode

    def count(model, texts):
        batches.extend(texts)
        return encode(model, texts)

    monkeypatch.setattr(Model, "encode", count)
    return batches


@pytest.fixture
def ask(repository, small):
    """The paths and scores of a search by meaning, by a workspace of its own."""

    def ask(text, *, ref=None, limit=10, within=None, model=small, **options):
        with Workspace.open(str(repository.root), **options) as workspace:
            hits = (
                workspace.session.view(Target(ref))
                .semantic_index(model)
                .search(text, limit, within)
            )
            return [(hit.path, round(hit.score, 2)) for hit in hits]

    return ask


@pytest.fixture(name="pets")
def make_pets(repository):
    repository.write("cat.md", "the kitten\n")
    repository.write("dog.md", "the dog\n")
    repository.write("car.md", "the lorry\n")
    repository.commit()
    return repository


@pytest.mark.usefixtures("pets")
def test_pages_are_ordered_by_meaning(ask):
    assert ask("cat") == [("cat.md", 0.99), ("dog.md", 0.71), ("car.md", 0.0)]
    assert ask("cat", limit=1) == [("cat.md", 0.99)]
    assert ask("cat", limit=0) == []


def test_hit_has_its_position(repository, small):
    repository.write("a.md", f"# A\n\n{'it ' * 40}\n\n## Pets\n\n{'it ' * 40}cat\n")
    repository.commit()
    with Workspace.open(str(repository.root)) as workspace:
        view = workspace.session.view()
        meaning = view.semantic_index(small)
        (hit,) = meaning.search("cat", 10)
        assert (meaning.pending, meaning.model) == (0, small)
        data = view.read(["a.md"])["a.md"]
    assert (hit.path, hit.blob, hit.number) == ("a.md", repository.blob("a.md"), 1)
    assert (hit.heading_path, hit.line_start, hit.line_end) == (("A", "Pets"), 5, 7)
    assert data[hit.byte_start : hit.byte_end].startswith(b"## Pets")


def test_unknown_words_are_near_to_nothing(pets, ask):
    pets.write("unknown.md", "Unheard of\n")
    assert ask("unheard") == []
    assert "unknown.md" not in dict(ask("cat"))


def test_page_at_two_paths_is_found_at_both(pets, ask, encoded):
    pets.write("copy/cat.md", "the kitten\n")
    pets.commit()
    assert ask("cat", limit=2) == [("cat.md", 0.99), ("copy/cat.md", 0.99)]
    assert encoded.count("the kitten") == 1


def test_search_can_be_limited_to_named_pages(pets, ask):
    pets.write("copy/cat.md", "the kitten\n")
    assert ask("cat", within=["dog.md", "copy/cat.md"], limit=9) == [
        ("copy/cat.md", 0.99),
        ("dog.md", 0.71),
    ]
    assert ask("cat", within=[]) == []


def test_only_new_texts_are_embedded(pets, ask, encoded):
    ask("cat")
    encoded.clear()
    pets.git("mv", "dog.md", "hound.md")
    pets.write("car.md", "the cat\n")
    assert ask("cat") == [("car.md", 1.0), ("cat.md", 0.99), ("hound.md", 0.71)]
    assert encoded == ["the cat"]
    encoded.clear()
    pets.commit()
    ask("cat")
    assert encoded == []


def test_revisions_share_the_vectors_of_equal_texts(pets, ask, encoded):
    first = pets.head()
    ask("cat")
    pets.write("car.md", "the car\n")
    pets.commit()
    encoded.clear()
    assert ask("car", limit=1) == [("car.md", 1.0)]
    assert ask("car", ref=first, limit=1) == [("car.md", 0.99)]
    assert encoded == ["the car"]


def test_workspace_follows_changes_of_its_repository(pets, small):
    with Workspace.open(str(pets.root)) as workspace:

        def found(text):
            return [
                hit.path for hit in workspace.session.view().semantic_index(small).search(text, 1)
            ]

        assert found("car") == ["car.md"]
        for number in range(3):
            pets.write(f"new{number}.md", f"{'it ' * number}car\n")
            assert found("car") == [f"new{number}.md"]
            pets.commit()
            assert found("car") == [f"new{number}.md"]
            pets.remove(f"new{number}.md")
            assert found("car") == ["car.md"]
            pets.commit()
            assert found("car") == ["car.md"]


@pytest.mark.usefixtures("pets")
def test_models_have_separate_vectors(ask, encoded, make_model):
    other = load_model(find_model(make_model({"lorry": (1, 0), "cat": (1, 0.1)}), {}))
    ask("cat")
    assert ask("cat", model=other) == [("car.md", 1.0)]
    encoded.clear()
    ask("cat")
    assert encoded == []


def many_pages(repository):
    for number in range(2 * PAGES_PER_BATCH + 5):
        repository.write(f"{number:03}.md", f"number {number}\n")
    repository.commit()
    return 2 * PAGES_PER_BATCH + 5


def test_interrupted_run_resumes_where_it_stopped(repository, ask, encoded):
    total = many_pages(repository)

    def interrupt(step, *_):
        if step == "Embedding sections":
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        ask("cat", progress=interrupt)
    assert len(encoded) == PAGES_PER_BATCH
    steps = []
    ask("cat", progress=lambda *step: steps.append(step))
    assert len(encoded) == total
    assert [step for step in steps if step[0] == "Embedding sections"] == [
        ("Embedding sections", PAGES_PER_BATCH, total - PAGES_PER_BATCH),
        ("Embedding sections", total - PAGES_PER_BATCH, total - PAGES_PER_BATCH),
    ]


def test_several_batches_are_read_with_one_call(repository, ask, monkeypatch):
    total = many_pages(repository)
    sizes, read = [], FileContents.read

    def count(contents, files):
        sizes.append(len(files))
        return read(contents, files)

    monkeypatch.setattr(FileContents, "read", count)
    ask("cat")
    assert sizes[-2:] == [PAGES_PER_BATCH, total - PAGES_PER_BATCH]


def test_concurrent_runs_do_not_embed_a_text_twice(repository, ask, encoded):
    total = many_pages(repository)
    others = []

    def run_another(step, *_):
        if step == "Embedding sections" and not others:
            others.append(ask("cat"))

    ask("cat", progress=run_another)
    assert len(encoded) == total
    with sqlite3.connect(repository.index) as database:
        assert database.execute("SELECT sum(size) FROM vector_block").fetchone() == (total,)
    database.close()


def test_edited_pages_are_embedded_first(repository, ask, encoded):
    many_pages(repository)
    repository.write("deep/er/z.md", "the lorry\n")
    repository.commit()
    repository.write("z.md", "the car\n")
    ask("cat")
    assert encoded[0] == "the car"
    assert encoded[-1] == "the lorry"


def test_unwritable_index_is_kept_in_memory(pets, ask):
    (pets.root / ".git/ubp").write_text("no folder")
    assert ask("cat", limit=1) == [("cat.md", 0.99)]


def test_broken_index_is_rebuilt(pets, small):
    with Workspace.open(str(pets.root)) as workspace:
        assert workspace.session.view().semantic_index(small).search("cat", 1)
        workspace.session.store.database.write(
            lambda connection: (
                connection.execute("UPDATE vector_block SET keys = 'x', size = 4") and None
            )
        )
        pets.write("new.md", "the car\n")
        with pytest.raises(IndexDamagedError):
            workspace.session.view().semantic_index(small)
        for _ in range(2):
            found = workspace.session.view().semantic_index(small)
            assert [hit.path for hit in found.search("cat", 2)] == ["cat.md", "dog.md"]
            assert [hit.path for hit in found.search("car", 1)] == ["new.md"]
            assert found.pending == 0


def test_unreadable_page_is_pending(pets, small):
    with Workspace.open(str(pets.root)) as workspace:
        workspace.session.view().link_graph()
    blob = pets.blob("cat.md")
    os.chmod(pets.root / ".git/objects" / blob[:2], 0o755)
    (pets.root / ".git/objects" / blob[:2] / blob[2:]).unlink()
    with Workspace.open(str(pets.root)) as workspace:
        meaning = workspace.session.view(Target("HEAD")).semantic_index(small)
        assert meaning.pending == 1
        assert [hit.path for hit in meaning.search("cat", 9)] == ["dog.md", "car.md"]
        assert workspace.session.view().count_embedded(small.fingerprint, small.dimensions) == (
            3,
            1,
        )


def test_close_chunks_are_listed_with_their_positions(pets, small):
    pets.write("copy/cat.md", "the kitten\n")
    with Workspace.open(str(pets.root)) as workspace:
        meaning = workspace.session.view().semantic_index(small)

        def pairs(*arguments):
            found = meaning.similar_pairs(*arguments)
            return [(a.path, b.path, round(a.score, 2), margin > 0) for a, b, margin in found]

        assert pairs(str, 0.1)[:2] == [
            ("cat.md", "dog.md", 0.78, True),
            ("copy/cat.md", "dog.md", 0.78, True),
        ]
        assert pairs(str, 0.1, ["car.md"]) == []
        assert {pair[:2] for pair in pairs(str, 0.1, ["copy/cat.md"])} == {
            ("cat.md", "dog.md"),
            ("copy/cat.md", "dog.md"),
        }
        assert pairs(lambda path: path[0], 0.1)[0][:2] == ("cat.md", "dog.md")
        assert pairs(lambda _: "one", -1) == []


def test_configured_model_is_used(pets, small_folder):
    def name(text, **options):
        pets.write(".ubp/config.json", text)
        with Workspace.open(str(pets.root), **options) as workspace:
            model = workspace.session.model()
            assert workspace.session.model() is model
            return model and model.name

    assert name("{}") == "ubp-bilingual-256"
    assert name("{}", model=str(small_folder)) == str(small_folder)
    assert name('{"search": {"model": "none"}}') is None
    assert name("{}", model="none") is None
    shutil.copytree(small_folder, pets.root / "own")
    assert name('{"search": {"model": "own"}}') == "own"
    with pytest.raises(ModelError, match=r"Model not found: owner/name"):
        name('{"search": {"model": "owner/name"}}')


def test_error_without_a_model_says_how_to_get_one(pets, monkeypatch):
    with (
        Workspace.open(str(pets.root), model="none") as workspace,
        pytest.raises(UsageError, match="needs an embedding model") as caught,
    ):
        workspace.session.required_model()
    assert "none" in caught.value.cause
    monkeypatch.setattr(
        "ubp.index.embed.locate.LIBRARIES", ("numpy", "a_library_that_is_not_there")
    )
    with Workspace.open(str(pets.root)) as workspace:
        assert workspace.session.model() is None
        with pytest.raises(UsageError, match="are not installed") as caught:
            workspace.session.required_model()
    assert caught.value.hint == f"Install it: {install_command('full')}"


def test_model_with_changed_files_is_loaded_again(pets, make_model):
    folder = make_model()
    with Workspace.open(str(pets.root), model=folder) as workspace:
        model = workspace.session.model()
        assert workspace.session.model() is model
        weights = Path(make_model({"a": (1, 2), "b": (3, 4)})).parent / "small"
        for name in ("model.safetensors", "tokenizer.json", "config.json"):
            (Path(folder) / name).write_bytes((weights / name).read_bytes())
        again = workspace.session.model()
        assert (again.dimensions, again.fingerprint == model.fingerprint) == (2, False)


def test_fingerprints_are_kept_once_files_are_settled(pets, make_model, monkeypatch):
    folder = make_model()
    reads = []
    from ubp.index.embed.model_files import fingerprint

    monkeypatch.setattr(
        "ubp.index.embedded.fingerprint", lambda place: reads.append(1) or fingerprint(place)
    )

    def find():
        with Workspace.open(str(pets.root), model=folder) as workspace:
            return workspace.session.model().fingerprint

    first = find()
    assert find() == first
    assert len(reads) == 2
    monkeypatch.setattr("ubp.index.embedded.SETTLED_SECONDS", -1)
    assert [find(), find()] == [first, first]
    assert len(reads) == 3


def test_vectors_that_another_process_deletes_are_computed_again(pets, small):
    with Workspace.open(str(pets.root)) as workspace, Workspace.open(str(pets.root)) as other:
        meaning = workspace.session.view().semantic_index(small)
        near = meaning.nearest("cat", 1)
        other.session.store.clear()
        assert meaning.nearest("cat", 1) == near
        (hit,) = meaning.search("cat", 1)
        assert (hit[:4], hit.line_start, hit.line_end) == (tuple(near[0]), 1, 1)


def test_pages_that_become_readable_are_found(pets, small):
    blob = pets.blob("cat.md")
    file = pets.root / ".git/objects" / blob[:2] / blob[2:]
    content = file.read_bytes()
    file.unlink()
    with Workspace.open(str(pets.root)) as workspace:

        def found():
            view = workspace.session.view(Target("HEAD"))
            return [hit.path for hit in view.semantic_index(small).search("cat", 1)]

        assert found() == ["dog.md"]
        file.write_bytes(content)
        assert found() == ["cat.md"]


def test_nearest_chunks_after_any_change_equal_those_of_a_new_index(repository, small):
    chance = random.Random(7)
    words = ["cat", "kitten", "dog", "car", "lorry", "unheard"]
    query = small.encode(["cat"])
    with Workspace.open(str(repository.root)) as workspace:
        for step in range(25):
            path = f"{chance.randrange(6)}.md"
            if chance.random() < 0.25 and (repository.root / path).exists():
                repository.remove(path)
            else:
                repository.write(path, f"{' '.join(chance.choices(words, k=2))}\n")
            if chance.random() < 0.4:
                repository.commit()
            if step == 12:
                workspace.session.store.prune()
            expected = []
            for page in sorted(repository.root.glob("*.md")):
                vector = small.encode([page.read_text()])
                if vector.rows.any():
                    expected.append((page.name, vector.nearest(query, 1)[0][1]))
            near = workspace.session.view().semantic_index(small).nearest("cat", 99)
            scores = {page.path: page.score for page in near}
            assert scores == pytest.approx(dict(expected), abs=0.02)
            assert [page.score for page in near] == sorted(scores.values(), reverse=True)


def test_search_of_an_indexed_repository_loads_no_markdown_parser(pets):
    program = (
        "import sys; from ubp.answers.search.search import SearchRequest;"
        "from ubp.workspace import Workspace;"
        "found = Workspace.open().ask(SearchRequest('kitten'));"
        "print(found.search_type, 'numpy' in sys.modules, 'markdown_it' in sys.modules)"
    )
    for _ in range(2):
        search = [sys.executable, "-c", program]
        done = subprocess.run(search, cwd=pets.root, check=True, capture_output=True)
    assert done.stdout.split() == [b"hybrid", b"True", b"False"]
