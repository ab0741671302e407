"""Folders and files of Windows and of POSIX systems, as clients spell them."""

import ntpath
import posixpath

import pytest

from ubp.lsp.folders import path_below, shown_root


@pytest.mark.parametrize(
    ("paths", "folder", "file", "below"),
    [
        (posixpath, "/home/a/project", "/home/a/project/docs/b.md", "docs/b.md"),
        (posixpath, "/home/a/project", "/home/a/project", ""),
        (posixpath, "/home/a/project/", "/home/a/project/b.md", "b.md"),
        (posixpath, "/home/a/project", "/home/a/projects/b.md", None),
        (posixpath, "/home/a/project", "/home/a/Project/b.md", None),
        (posixpath, "/", "/b.md", "b.md"),
        (ntpath, "C:/Users/a/project", "c:\\Users\\a\\project\\docs\\b.md", "docs/b.md"),
        (ntpath, "c:\\project", "C:\\Project\\Docs/B.md", "Docs/B.md"),
        (ntpath, "c:\\project\\", "c:\\project", ""),
        (ntpath, "c:\\project", "d:\\project\\b.md", None),
        (ntpath, "C:\\", "c:\\b.md", "b.md"),
        (ntpath, "\\\\server\\share", "\\\\Server\\share\\docs\\b.md", "docs/b.md"),
    ],
)
def test_path_below_folder(paths, folder, file, below):
    assert path_below(folder, file, paths) == below


@pytest.mark.parametrize(
    ("paths", "folder", "real", "root", "shown"),
    [
        (posixpath, "/link", "/home/project", "/home/project", "/link"),
        (posixpath, "/link/docs/", "/home/project/docs", "/home/project", "/link"),
        (posixpath, "/docs", "/home/project/docs", "/home/project", "/home/project"),
        (posixpath, "/other", "/home/project/docs", "/home/project", "/home/project"),
        (ntpath, "c:\\project", "C:\\Project", "C:/Project", "c:\\project"),
        (ntpath, "c:\\project\\docs", "C:\\Project\\Docs", "C:/Project", "c:\\project"),
    ],
)
def test_root_is_spelled_as_by_the_client(paths, folder, real, root, shown):
    assert shown_root(folder, real, root, paths) == shown
