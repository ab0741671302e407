"""Links in forms that UBP does not understand are counted, not reported."""

import pytest

from ubp.checks.gate import not_understood_sentences


def links(prefix, numbers, suffix=""):
    return "".join(f"[{n}]({prefix}{n}{suffix})\n" for n in numbers)


@pytest.fixture
def guide(repository):
    """A site of which two of nine links without suffix, and three of four with it, find a page."""
    repository.write("docs/.vitepress/config.mts", "export default {}\n")
    for name in ("one", "two", "three"):
        repository.write(f"docs/{name}.md", f"# {name}\n")
    found = "[1](one.md) [2](two.md) [3](three.md)"
    repository.write("docs/index.md", f"# Index\n\n{found} [4](four.md)\n")
    text = f"[one](/id/one) [two](/one)\n{links('/id/', range(2, 8))}"
    repository.write("docs/ids.md", f"# Ids\n\n{text}")
    repository.commit("Begin")
    return repository


def test_form_whose_links_mostly_lead_nowhere_is_one_notice_without_findings(guide, check):
    report = check(guide)
    assert [finding.subject for finding in report.findings] == ["markdown four.md"]
    (item,) = report.not_understood
    assert item.form == ("broken-link", "vitepress", "docs", "/…")
    assert (item.lost, item.links, item.filepath, item.line) == (7, 8, "docs/ids.md", 3)
    assert item.example == "/id/one"


def test_form_with_four_lost_links_keeps_its_findings(guide, found):
    guide.write("docs/ids.md", f"# Ids\n\n{links('/id/', range(4))}")
    assert len(found(guide, rules=["broken-link"])) == 5


def test_form_with_a_third_of_its_links_lost_keeps_its_findings(guide, found):
    known = "[1](/one) [2](/two) [3](/three) " * 4
    guide.write("docs/ids.md", f"# Ids\n\n{known}\n{links('/id', range(6))}")
    assert len(found(guide, rules=["broken-link"])) == 7


def test_unknown_prefix_is_no_path_even_once(guide, check):
    guide.write("docs/ids.md", "# Ids\n\n[x](@/one.md)\n")
    report = check(guide)
    assert [finding.subject for finding in report.findings] == ["markdown four.md"]
    assert [item.form.written for item in report.not_understood] == ["@/…"]


def test_anchors_of_a_site_that_mostly_match_no_heading_are_one_notice(guide, check):
    headings = "".join(f"## Part {n} [#a{n}]\n" for n in range(6))  # the syntax of a plug-in
    guide.write("docs/one.md", f"# One\n\n{headings}")
    anchors = "".join(f"[x](one.md#a{n})\n" for n in range(6))
    guide.write("docs/ids.md", f"# Ids\n\n{anchors}")
    report = check(guide)
    assert [finding.rule for finding in report.findings] == ["broken-link"]
    assert [(item.form.rule, item.lost) for item in report.not_understood] == [
        ("missing-anchor", 6)
    ]


def test_check_of_one_page_judges_forms_by_all_pages(guide, check):
    guide.write("docs/few.md", "# Few\n\n[x](/id/few)\n")
    report = check(guide, "docs/few.md")
    assert report.findings == ()
    assert [item.lost for item in report.not_understood] == [8]


def test_new_link_in_a_form_that_the_base_does_not_understand_is_not_reported(guide, check):
    guide.write("docs/new.md", "# New\n\n[x](/id/new) [y](gone.md)\n")
    guide.git("add", "--all")
    report = check(guide, staged=True)
    assert [finding.subject for finding in report.findings] == ["markdown gone.md"]
    assert [item.form.written for item in report.not_understood] == ["/…"]


def test_link_that_the_change_itself_breaks_is_reported_in_any_form(guide, found):
    guide.git("mv", "docs/one.md", "docs/new.md")
    subjects = [line.partition(" docs/")[2] for line in found_staged(guide, found)]
    assert subjects == ["ids.md:3 markdown /one", "index.md:3 markdown one.md"]


def test_change_that_breaks_every_link_of_an_understood_form_is_reported(repository, found):
    repository.write("docs/.vitepress/config.mts", "export default {}\n")
    for number in range(8):
        repository.write(f"docs/old/{number}.md", f"# {number}\n")
    repository.write("docs/index.md", f"# Index\n\n{links('/old/', range(8))}")
    repository.commit("Begin")
    repository.git("mv", "docs/old", "docs/new")
    assert len(found_staged(repository, found)) == 8


def test_fix_leaves_links_of_a_form_that_is_not_understood(guide, fix):
    guide.write("docs/sub/here.md", "# Here\n")
    guide.write("docs/ids.md", f"# Ids\n\n{links('/x/here', [''] * 8)}")
    assert fix(guide).fixed == ()


def test_page_with_an_id_is_linked_by_the_id_whatever_the_case_of_its_file(repository, found):
    repository.write("docusaurus.config.js", "module.exports = { presets: [['classic', {}]] }\n")
    repository.write("docs/Configuration.md", "---\nid: configuration\n---\n# Configuration\n")
    repository.write("docs/Other.md", "# Other\n")
    repository.write("docs/cli.md", "# CLI\n\n[a](configuration) [b](other)\n")
    repository.commit("Begin")
    assert found(repository, rules=["broken-link"]) == [
        "error broken-link docs/cli.md:3 markdown other"
    ]


def found_staged(repository, found):
    repository.git("add", "--all")
    return found(repository, staged=True, rules=["broken-link"])


def test_links_to_headings_of_their_own_page_count_for_the_form(guide, found):
    right = "[x](#ids)\n" * 12
    wrong = "".join(f"[x](#a{n})\n" for n in range(6))
    guide.write("docs/ids.md", f"# Ids\n\n{right}{wrong}")
    assert len(found(guide, rules=["missing-anchor"])) == 6


def test_anchors_that_no_rule_makes_of_the_page_are_findings_however_many(guide, found):
    anchors = "".join(f"[x](one.md#a{n})\n" for n in range(6))
    guide.write("docs/ids.md", f"# Ids\n\n{anchors}")
    assert len(found(guide, rules=["missing-anchor"])) == 6


def test_links_that_leave_the_pages_are_one_notice_where_three_lead_nowhere(guide, check):
    guide.write("docs/api/x/app.md", "[a](../../../src/a.c) [b](../../b.gn) [c](../../lib/c.ts)\n")
    report = check(guide)
    assert [finding.subject for finding in report.findings] == ["markdown four.md"]
    assert [(item.form.written, item.lost) for item in report.not_understood] == [
        ("../…", 3),
        ("/…", 7),
    ]


def test_two_links_that_leave_the_pages_keep_their_findings(guide, found):
    guide.write("docs/ids.md", "# Ids\n\n[a](../src/a.c) [b](../lib/b.gn)\n")
    assert len(found(guide, rules=["broken-link"])) == 3


def test_links_to_five_files_in_a_folder_that_does_not_exist_are_one_notice(guide, check):
    known = "[1](one.md) [2](two.md) [3](three.md) " * 9
    guide.write("docs/ids.md", f"# Ids\n\n{known}\n{links('api/v1/', range(5), '.md')}")
    report = check(guide)
    assert [finding.subject for finding in report.findings] == ["markdown four.md"]
    assert [item.form.written for item in report.not_understood] == ["docs/api/…/"]


def test_links_to_four_files_in_a_folder_that_does_not_exist_keep_their_findings(guide, found):
    known = "[1](one.md) [2](two.md) [3](three.md) " * 9
    guide.write("docs/ids.md", f"# Ids\n\n{known}\n{links('api/', range(4), '.md')}")
    assert len(found(guide, rules=["broken-link"])) == 5


def test_change_that_removes_a_folder_reports_the_links_into_it(guide, found):
    for number in range(5):
        guide.write(f"docs/api/{number}.md", "# Page\n")
    guide.write("docs/ids.md", f"# Ids\n\n{links('api/', range(5), '.md')}")
    guide.commit("Add a folder")
    guide.git("rm", "-rq", "docs/api")
    assert len(found_staged(guide, found)) == 5


def test_anchors_that_are_not_understood_hide_those_that_no_rule_makes(guide, check):
    headings = "".join(f"## Part {n} [#a{n}]\n" for n in range(6))  # the syntax of a plug-in
    guide.write("docs/one.md", f"# One\n\n{headings}")
    anchors = "".join(f"[x](one.md#a{n})\n" for n in range(6))
    guide.write("docs/ids.md", f"# Ids\n\n{anchors}[y](one.md#elsewhere)\n")
    report = check(guide)
    assert [finding.rule for finding in report.findings] == ["broken-link"]
    assert [item.lost for item in report.not_understood] == [7]


@pytest.fixture
def reference(repository):
    """A page of Hugo that is filled when the site is built: four of five links find no heading."""
    repository.write("hugo.toml", 'baseURL = "https://example.org/"\n')
    repository.write("content/docs/functions.md", "# Functions\n\n{{< functions >}}\n")
    repository.write("content/docs/plain.md", "# Plain\n\n## Kept\n")
    calls = "".join(f"[{n}](/docs/functions/#call-{n}) " for n in range(8))
    plain = "[x](/docs/plain/#kept) " * 20
    repository.write(
        "content/docs/a.md", f"# A\n\n{calls}[x](/docs/functions/#functions) {plain}\n"
    )
    repository.write("content/docs/b.md", "# B\n\n[x](/docs/plain/#gone)\n")
    repository.commit("Begin")
    return repository


def test_headings_that_a_shortcode_makes_are_one_notice(reference, check):
    report = check(reference)
    assert [finding.subject for finding in report.findings] == ["markdown /docs/plain/#gone"]
    (item,) = report.not_understood
    assert (item.form.written, item.lost, item.links) == ("# {{< functions >}}", 8, 9)
    (sentence, _) = not_understood_sentences([item])
    assert sentence.startswith("8 links to headings of pages with `{{< functions >}}` were not")


def test_headings_that_a_layout_makes_are_one_notice(reference, check):
    reference.write("content/docs/functions.md", "---\nlayout: api\n---\n# Functions\n")
    assert [item.form.written for item in check(reference).not_understood] == ["# layout: api"]


def test_shortcode_with_which_enough_headings_are_found_hides_nothing(reference, found):
    reference.write(
        "content/docs/c.md", "# C\n\n[x](/docs/functions/#functions) [x](plain.md)\n" * 2
    )
    assert len(found(reference, rules=["missing-anchor"])) == 9


def test_heading_that_the_change_removes_from_a_filled_page_is_reported(reference, found):
    reference.write("content/docs/functions.md", "# Calls\n\n{{< functions >}}\n")
    reference.git("add", "--all")
    assert found(reference, staged=True, rules=["missing-anchor"]) == [
        "warning missing-anchor content/docs/a.md:3 markdown /docs/functions/#functions"
    ]
