"""Word documents, PDF files and notebooks become documents that name their place."""

import json
import os
import zipfile
from io import BytesIO

import pytest

from ubp.core import child
from ubp.core.child import Limits
from ubp.sync import office
from ubp.sync.office import read_office_files

WORD = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
NOTEBOOK = {
    "nbformat": 4,
    "metadata": {"language_info": {"name": "python", "version": "3.11"}},
    "cells": [
        {"cell_type": "markdown", "source": ["# Churn\n", "How many leave."]},
        {
            "cell_type": "code",
            "source": 'print("""\n```\n""")\n',
            "outputs": [{"text": "a result that is not kept"}],
        },
        {"cell_type": "raw", "source": " "},
    ],
}


def word(*paragraphs):
    """Return a Word document of paragraphs, each a style and a text."""
    body = "".join(
        f'<w:p><w:pPr><w:pStyle w:val="{style}"/></w:pPr><w:r><w:t>{text}</w:t></w:r></w:p>'
        for style, text in paragraphs
    )
    styles = "".join(
        f'<w:style w:type="paragraph" w:styleId="{style}"><w:name w:val="{name}"/></w:style>'
        for style, name in (("Heading1", "heading 1"), ("Title", "Title"), ("Normal", "Normal"))
    )
    files = {
        "word/document.xml": f'<w:document xmlns:w="{WORD}"><w:body>{body}</w:body></w:document>',
        "word/styles.xml": f'<w:styles xmlns:w="{WORD}">{styles}</w:styles>',
        "_rels/.rels": '<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/'
        'relationships"><Relationship Id="r" Type="http://schemas.openxmlformats.org/'
        'officeDocument/2006/relationships/officeDocument" Target="word/document.xml"/>'
        "</Relationships>",
        "[Content_Types].xml": '<Types xmlns="http://schemas.openxmlformats.org/package/2006/'
        'content-types"/>',
    }
    data = BytesIO()
    with zipfile.ZipFile(data, "w") as archive:
        for name, text in files.items():
            archive.writestr(name, text)
    return data.getvalue()


def pdf(*pages, title="", password=""):
    """Return a PDF of pages, each a list of lines; the first line is in the table of contents."""
    from pypdf import PdfWriter
    from pypdf.generic import DictionaryObject, NameObject, StreamObject

    writer = PdfWriter()
    font = DictionaryObject(
        {
            NameObject("/Type"): NameObject("/Font"),
            NameObject("/Subtype"): NameObject("/Type1"),
            NameObject("/BaseFont"): NameObject("/Helvetica"),
        }
    )
    reference = writer._add_object(font)
    for number, lines in enumerate(pages):
        page = writer.add_blank_page(200, 200)
        fonts = DictionaryObject({NameObject("/F"): reference})
        page[NameObject("/Resources")] = DictionaryObject({NameObject("/Font"): fonts})
        content = StreamObject()
        shown = " ".join(f"({line}) Tj T*" for line in lines)
        content.set_data(f"BT /F 9 Tf 12 TL 10 180 Td {shown} ET".encode())
        page[NameObject("/Contents")] = writer._add_object(content)
        if lines:
            writer.add_outline_item(title=lines[0], page_number=number)
    if title:
        writer.add_metadata({"/Title": title})
    if password:
        writer.encrypt(password, algorithm="RC4-128")
    data = BytesIO()
    writer.write(data)
    return data.getvalue()


@pytest.fixture
def papers(tmp_path):
    papers = tmp_path / "papers"
    (papers / "sub").mkdir(parents=True)
    book = word(("Title", "Handbook"), ("Normal", "Use the *blue* pool &lt;b&gt;."))
    (papers / "handbook.docx").write_bytes(book)
    manual = pdf(["Safety", "# Disconnect it."], ["Cleaning", "Rinse it."], title="Pump manual")
    (papers / "sub" / "manual.pdf").write_bytes(manual)
    (papers / "churn.ipynb").write_text(json.dumps(NOTEBOOK))
    (papers / "index.html").write_text('<h1>Index</h1><a href="sub/manual.pdf#page=2">two</a>')
    (papers / "plain.txt").write_text("Plain text.\n")
    return papers


INCLUDE = [
    part
    for suffix in ("docx", "pdf", "ipynb", "html", "txt", "md")
    for part in ("--include", f"**/*.{suffix}")
]


def test_folder_of_several_formats_is_converted_with_places(papers, run, stored):
    out = run("collections", "add", "papers", str(papers), "--yes", *INCLUDE)
    assert "5 files: 5 added" in out
    assert stored("papers", "show", "main:handbook.md") == (
        '---\ntitle: "Handbook"\noriginal: "handbook.docx"\n---\n\n'
        "# Handbook\n\nUse the \\*blue\\* pool \\<b>."
    )
    assert stored("papers", "show", "main:sub/manual.md") == (
        '---\ntitle: "Pump manual"\noriginal: "sub/manual.pdf"\n---\n\n# Pump manual\n\n'
        "## Page 1: Safety {#page=1}\n\nSafety\n\\# Disconnect it.\n\n"
        "## Page 2: Cleaning {#page=2}\n\nCleaning\nRinse it."
    )
    assert stored("papers", "show", "main:churn.md") == (
        "---\noriginal: churn.ipynb\n---\n\n# Churn\nHow many leave.\n\n"
        '````python\nprint("""\n```\n""")\n````'
    )
    assert "[two](sub/manual.md#page=2)" in stored("papers", "show", "main:index.md")
    section = run("get-page", "--in", "papers", "sub/manual.md#page=2")
    assert "Rinse it." in section
    assert "Disconnect" not in section
    assert "unchanged" in run("collections", "sync", "papers")


def test_citation_of_a_page_of_a_pdf_leads_to_that_page(papers, run):
    from ubp.index.addresses import page_address
    from ubp.index.collections import collections_dir, open_collection, read_collection

    run("collections", "add", "papers", str(papers), "--yes", *INCLUDE)
    environment = dict(os.environ)
    base = collections_dir(environment)
    collection = read_collection(base, "papers")
    with open_collection(base, collection, environment) as repository:
        address = page_address(repository, collection, "", "sub/manual.md", "page=2")
    assert address == f"{(papers / 'sub' / 'manual.pdf').as_uri()}#page=2"


def test_notebook_without_cells_is_a_page_with_its_name(tmp_path, run, stored):
    folder = tmp_path / "notebooks"
    folder.mkdir()
    (folder / "empty.ipynb").write_text('{"cells": [], "metadata": {}, "nbformat": 4}')
    run("collections", "add", "empty", str(folder), "--yes", "--include", "*.ipynb")
    page = stored("empty", "show", "main:empty.md")
    assert page == "---\noriginal: empty.ipynb\n---\n\n# empty.ipynb"


def test_files_that_cannot_be_read_are_listed_with_the_reason(papers, run, stored):
    (papers / "scan.pdf").write_bytes(pdf([]))
    (papers / "secret.pdf").write_bytes(pdf(["Secret"], password="x"))
    (papers / "broken.docx").write_bytes(b"PK\x03\x04")
    (papers / "broken.ipynb").write_text("{")
    (papers / "empty.docx").write_bytes(word())
    (papers / "latin.txt").write_bytes("caf\xe9".encode("latin-1"))
    out = run("collections", "add", "papers", str(papers), "--yes", *INCLUDE, status=2)
    assert "scan.pdf: it has no text: its pages are probably scanned images" in out
    assert "secret.pdf: it is encrypted" in out
    assert "broken.docx: it is damaged, or no .docx file (BadZipFile)" in out
    assert "broken.ipynb: it is not valid JSON" in out
    assert "empty.docx: it has no text" in out
    assert "latin.txt: not valid UTF-8" in out
    assert len(stored("papers", "ls-tree", "-r", "--name-only", "main").split()) == 5


@pytest.mark.parametrize("is_forked", [True, False])
@pytest.mark.skipif(os.name == "nt", reason="Windows has no such limits")
def test_file_that_unpacks_to_gigabytes_is_a_problem_of_its_own(is_forked, monkeypatch):
    monkeypatch.setattr(child, "_is_single_threaded", lambda: is_forked)
    monkeypatch.setattr(office, "LIMITS", Limits(5, 300 << 20))
    bomb = BytesIO()
    with zipfile.ZipFile(BytesIO(word())) as whole, zipfile.ZipFile(bomb, "w", 8) as archive:
        for name in set(whole.namelist()) - {"word/document.xml"}:
            archive.writestr(name, whole.read(name))
        archive.writestr("word/document.xml", b"<a>" + b" " * (500 << 20))
    files = [("one.docx", word(("Normal", "One"))), ("bomb.docx", bomb.getvalue())]
    first, second, third = read_office_files([*files, ("three.ipynb", b"[]")])
    assert "One" in first.html
    assert "to read, or it is damaged" in second.problem
    assert third.problem == "it is not a notebook"


def test_files_that_could_be_converted_are_counted_before_a_folder_is_imported(papers, run):
    (papers / "note.md").write_text("# Note\n")
    out = run("collections", "add", "papers", str(papers), "--yes")
    assert "left out: 1 .docx, 1 .html, 1 .ipynb, 1 .pdf, 1 .txt" in out
    assert "to convert them: --include '**/*.md' --include '**/*.docx' --include" in out
    assert "1 file: 1 added" in out
    out = run("collections", "add", "books", str(papers), "--include", "*.ipynb", "--yes")
    assert "to convert them: --include '*.ipynb' --include '**/*.docx' --include" in out
    assert "**/*.md" not in out


def test_missing_library_is_a_problem_of_each_file_that_needs_it(papers, run, monkeypatch):
    monkeypatch.setitem(office.LIBRARIES, ".pdf", "no_such_library")
    out = run("collections", "add", "papers", str(papers), "--yes", *INCLUDE, status=2)
    assert "reading .pdf needs the extra `documents`; install it: " in out
    assert "4 files: 4 added" in out
