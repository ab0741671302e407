"""Counts of common phrases: each is that of the version that was asked for, or unknown."""

import random
import zlib

from ubp.hub.frequencies import Frequencies, Versions
from ubp.index.match import Phrase


def test_counts_are_those_of_the_versions_asked_for(monkeypatch):
    monkeypatch.setattr("ubp.hub.frequencies.MIN_CHUNKS", 1)
    monkeypatch.setattr("ubp.hub.frequencies.MAX_PHRASES", 20)
    choose = random.Random(38)
    frequencies = Frequencies()
    phrases = [(Phrase(str(number)), "words") for number in range(30)]
    newest = dict.fromkeys(range(1, 40), 1)
    all_known = 0

    def count(what, repository, version):
        return zlib.crc32(f"{what[0].words} {repository} {version}".encode()) % 5

    for _ in range(3000):
        if choose.random() < 0.2:
            newest[choose.randrange(1, 40)] += 1
        chosen = choose.sample(sorted(newest), choose.randrange(1, 40))
        # Now and then a search that began before the last push.
        asked = [(repo, max(1, newest[repo] - (choose.random() < 0.1))) for repo in chosen]
        what = choose.choice(phrases[: choose.choice([5, 30])])
        known, others = frequencies.known(what, Versions.of(asked))
        missing = dict(zip(others.repositories.tolist(), others.versions.tolist(), strict=True))
        assert missing.items() <= dict(asked).items()
        counted = {repo: count(what, repo, version) for repo, version in missing.items()}
        assert known + sum(counted.values()) == sum(count(what, *pair) for pair in asked)
        all_known += not missing
        frequencies.keep(what, others, {repo: n for repo, n in counted.items() if n})
    assert all_known > 100


def test_rare_phrases_are_not_kept():
    frequencies = Frequencies()
    asked = Versions.of([(3, 1), (5, 7)])
    rare, common = (Phrase("rare"), "words"), (Phrase("common"), "stems")
    frequencies.keep(rare, asked, {3: 20})
    frequencies.keep(common, asked, {3: 2000})
    assert frequencies.known(rare, asked) == (0, asked)
    known, others = frequencies.known(common, asked)
    assert (known, len(others)) == (2000, 0)
