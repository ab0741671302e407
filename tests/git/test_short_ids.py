"""Abbreviated ids stay unique."""

from ubp.git.trees import IDS_PER_CALL, shorten


class Crowded:
    """A repository that has these objects; real ids that begin alike would take years to find."""

    def __init__(self, *names):
        self.names = names
        self.calls = 0

    def run(self, *tokens, ok):
        assert (tokens[0], ok) == ("rev-parse", (0, 128))
        self.calls += 1
        prefixes = [token.removeprefix("--disambiguate=") for token in tokens[1:]]
        found = [name for prefix in prefixes for name in self.names if name.startswith(prefix)]
        return "".join(f"{name}\n" for name in found).encode()


ONE, ALIKE, OTHER = "a" * 40, "a" * 14 + "b" * 26, "c" * 40


def test_id_is_abbreviated_until_it_is_unique():
    assert shorten([ONE, OTHER, ONE], Crowded(ONE, ALIKE, OTHER)) == {
        ONE: "a" * 15,
        OTHER: "c" * 12,
    }


def test_id_of_an_absent_object_is_abbreviated_too():
    assert shorten([OTHER], Crowded()) == {OTHER: "c" * 12}


def test_many_ids_are_abbreviated_in_one_call():
    names = [f"{number:040x}" for number in range(IDS_PER_CALL + 1)]
    repository = Crowded()
    assert len(shorten(names, repository)) == IDS_PER_CALL + 1
    assert repository.calls == 2
