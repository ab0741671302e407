"""Equal headings: as many anchors, in linear time."""

import time

import pytest

from ubp.core.model import FilePath
from ubp.markdown.sites.anchors import HeadingName
from ubp.markdown.sites.generators import GENERATORS
from ubp.markdown.sites.site import Site

HEADINGS = 10_000


@pytest.mark.parametrize("generator", GENERATORS, ids=lambda generator: generator.style.name)
def test_equal_headings_get_different_anchors_in_linear_time(generator):
    site = Site(generator.style, FilePath(""), ())
    headings = [HeadingName(2, text) for text in ("a", "a-1", "a_2", *["a"] * HEADINGS)]
    started = time.process_time()
    anchors = list(generator.anchors(headings, site))
    assert time.process_time() - started < 3  # 0.1 s; in quadratic time 30 s
    assert len(set(anchors)) >= HEADINGS or not anchors  # kramdown numbers "a-1" twice
