"""Links in the pages of site generators."""

import pytest

from ubp.index.session import Target
from ubp.markdown.sites import detect, generators
from ubp.search.graph import open_graph
from ubp.workspace import Workspace

SITES = {
    "vitepress": {
        "docs/.vitepress/config.mts": "export default { srcDir: 'src', base: '/x/' }\n",
        "package.json": '{"devDependencies": {"vitepress": "^1.6.4"}}\n',
        "docs/src/index.md": "# Home\n",
        "docs/src/guide/start.md": "# Start here!\n\n## Set-up\n",
        "docs/src/public/logo.svg": "<svg/>\n",
    },
    "mkdocs": {
        "mkdocs.yml": "site_name: x\ndocs_dir: docs/src\nnav:\n  - guide/start.md\n",
        "docs/src/index.md": "# Home\n",
        "docs/src/guide/start.md": "# Start here!\n\n## Set-up\n",
        "docs/src/logo.svg": "<svg/>\n",
    },
    "docusaurus": {
        "docs/docusaurus.config.js": (
            "module.exports = { presets: [['classic', { docs: { path: 'src' } }]] }\n"
        ),
        "docs/src/01-intro.md": "---\nslug: /\n---\n# Home\n",
        "docs/src/guide/02-start.mdx": "# Start here!\n\n## Set-up\n",
        "docs/static/logo.svg": "<svg/>\n",
    },
    "hugo": {
        "docs/hugo.toml": "baseURL = 'https://example.org/x/'\ncontentDir = 'src'\n",
        "docs/src/_index.md": "# Home\n",
        "docs/src/guide/start.md": "# Start here!\n\n## Set-up\n",
        "docs/static/logo.svg": "<svg/>\n",
    },
    "mdbook": {
        "docs/book.toml": "[book]\ntitle = 'x'\n",
        "docs/src/SUMMARY.md": "[Start](guide/start.md)\n",
        "docs/src/guide/start.md": "# Start here!\n\n## Set-up\n",
        "docs/src/logo.svg": "<svg/>\n",
    },
    "jekyll": {
        "docs/_config.yml": "title: x\nsource: src\n",
        "docs/src/index.md": "---\n---\n# Home\n",
        "docs/src/_guide/start.md": (
            "---\npermalink: /guide/start/\n---\n# Start here!\n\n## Set-up\n"
        ),
        "docs/src/logo.svg": "<svg/>\n",
    },
    "hexo": {
        "docs/_config.yml": "title: x\n",
        "docs/package.json": '{"dependencies": {"hexo": "^7", "hexo-renderer-marked": "^7"}}\n',
        "docs/source/guide/start.md": "# It's é\n\n## Set-up\n",
        "docs/source/logo.svg": "<svg/>\n",
    },
    "sphinx": {
        "docs/src/conf.py": "extensions = ['myst_parser']\nmyst_heading_anchors = 3\n",
        "docs/src/guide/start.md": "(goal)=\n# Start here!\n\n## Set-up\n",
        "docs/src/logo.svg": "<svg/>\n",
    },
    "starlight": {
        "docs/astro.config.mjs": (
            "export default defineConfig({ base: '/x', integrations: [starlight({\n"
            "  locales: { root: { label: 'English' }, fr: { label: 'Français' } } })] })\n"
        ),
        "docs/src/content/docs/index.mdx": "# Home\n",
        "docs/src/content/docs/guide/Start v1.2.md": "---\ntitle: x\n---\n## Set-up\n",
        "docs/src/content/docs/fr/guide/own.md": "# Chez nous\n\n[a](/x/fr/guide/start-v12/)\n",
        "docs/src/content/docs/old.md": "---\nslug: guide/moved\n---\n",
        "docs/public/logo.svg": "<svg/>\n",
    },
    "nextra": {
        "docs/next.config.mjs": "import nextra from 'nextra'\nexport default nextra({})({})\n",
        "docs/content/index.mdx": "# Home\n",
        "docs/src/app/guide/start/page.mdx": "# Start here!\n\n## Set-up [#own]\n",
        "docs/public/logo.svg": "<svg/>\n",
    },
    "fumadocs": {
        "docs/source.config.ts": (
            "import { defineDocs, defineCollections } from 'fumadocs-mdx/config'\n"
            "export const docs = defineDocs({ docs: { dir: 'content/docs' } })\n"
            "export const blog = defineCollections({ type: 'doc', dir: 'content/blog' })\n"
        ),
        "docs/content/docs/index.mdx": "# Home\n",
        "docs/content/docs/(basics)/guide/start.mdx": "# Start here!\n\n## Set-up [#own]\n",
        "docs/content/blog/new.mdx": "# New\n",
        "docs/public/logo.svg": "<svg/>\n",
    },
    "eleventy": {
        "docs/eleventy.config.js": "export default () => ({ dir: { input: 'src' } })\n",
        "docs/src/guide/start.md": "# Start here!\n\n## Set-up\n",
        "docs/src/logo.svg": "<svg/>\n",
    },
    "vocs": {
        "docs/vocs.config.ts": "export default defineConfig({ rootDir: '.', basePath: '/x' })\n",
        "docs/pages/index.mdx": "# Home\n",
        "docs/src/pages/guide/start.mdx": "# Start here!\n\n## Set-up\n",
        "docs/public/logo.svg": "<svg/>\n",
    },
    "quarto": {
        "docs/_quarto.yml": "project:\n  type: website\n",
        "docs/guide/start.md": "# Start here!\n\n## Set-up\n",
        "docs/logo.svg": "<svg/>\n",
    },
    "nuxt": {
        "docs/nuxt.config.ts": "export default defineNuxtConfig({ modules: ['@nuxt/content'] })\n",
        "docs/content/1.guide/1.index.md": "# Guide\n\n[a](./2.start.md) [b](./3.more/index.md)\n",
        "docs/content/1.guide/2.start.md": "# Start here!\n\n## Set-up\n",
        "docs/content/1.guide/3.more/1.index.md": "# More\n",
        "docs/public/logo.svg": "<svg/>\n",
    },
    "exdoc": {
        "docs/mix.exs": (
            'def docs, do: [extras: ["README.md"] ++ Path.wildcard("guides/**/*.{cheatmd,md}"),\n'
            '  # "attic/old.md",\n  assets: %{"guides/assets" => "assets"}]\n'
        ),
        "docs/README.md": "# Home\n",
        "docs/guides/2. Start here.md": "# Start here!\n\n## `set_up/1` & more\n",
        "docs/guides/assets/logo.svg": "<svg/>\n",
        "docs/attic/old.md": "# Old\n",
    },
    "docsify": {
        "docs/_sidebar.md": "- [Start](guide/start.md)\n",
        "docs/guide/_sidebar.md": "- [Start](guide/start.md)\n",
        "docs/guide/start.md": "# Start here!\n\n## Set-up\n",
        "docs/logo.svg": "<svg/>\n",
    },
}
PAGES = {
    "hexo": "docs/source/about.md",
    "starlight": "docs/src/content/docs/about.md",
    "nextra": "docs/content/about.md",
    "fumadocs": "docs/content/docs/about.mdx",
    "vocs": "docs/pages/README.mdx",
    "quarto": "docs/about.md",
    "nuxt": "docs/content/about.md",
    "exdoc": "docs/guides/more/about.md",
    "docsify": "docs/about.md",
}
WORKING = {
    "vitepress": (
        "[a](/guide/start#set-up) [b](guide/start.html) [c](/) ![d](/logo.svg) [e](/x/guide/start)"
    ),
    "mkdocs": "[a](guide/start.md#set-up) [b](../guide/start/#start-here) ![c](logo.svg) [d](/x)",
    "docusaurus": (
        "[a](/docs/guide/start#set-up) [b](/docs) [c](guide/02-start.mdx) ![d](/logo.svg)"
    ),
    "hugo": "[a](/guide/start/#set-up) [b](/x/guide/start/) [c](../guide/start/) ![d](/logo.svg)",
    "mdbook": (
        "[a](guide/start.html#set-up) [b](guide/start.md#start-here)"
        " ![c](logo.svg) [d](../x/y.html)"
    ),
    "jekyll": "[a](/guide/start/#set-up) [b](_guide/start.md) ![c](/logo.svg) [d](/later/)",
    "hexo": (
        "[a](/guide/start.html#Set-up) [b](guide/start.html#It\u2019s-e)"
        " [c](guide/start.html#It-s-e) ![d](/logo.svg) ![e](logo.svg)"
    ),
    "sphinx": "[a](guide/start.md#set-up) [b](#goal) ![c](logo.svg)",
    "starlight": (
        "[a](/guide/start-v12/#set-up) [b](/x/guide/start-v12) ![c](/logo.svg) [d](/guide/moved/)"
    ),
    "nextra": "[a](/guide/start#own) [b](/guide/start#start-here) ![c](/logo.svg)",
    "fumadocs": (
        "[a](/docs/guide/start#own) [b](/guide/start#start-here) [c](./(basics)/guide/start.mdx)"
        " [d](/blog/new#new) [e](/docs) [f](/pricing) ![g](/logo.svg)"
    ),
    "eleventy": "[a](/guide/start/#set-up) [b](guide/start.md) ![c](/logo.svg)",
    "vocs": "[a](/guide/start#set-up) [b](/guide/start.mdx) [c](/) ![d](/logo.svg) [e](/x/sdk)",
    "quarto": "[a](guide/start.md#set-up) [b](/guide/start.md) ![c](logo.svg)",
    "nuxt": (
        "[a](./guide/start.md#set-up) [b](/guide/more/index.md) [c](1.guide/index.md)"
        " [d](/guide/later) [e](./guide) ![f](/logo.svg)"
    ),
    "exdoc": (
        "[a](2.%20Start%20here.md#set_up-1-more) [b](2-start-here.html#set_up1--more)"
        " [c](somewhere/README.md) [d](../README.md) ![e](assets/logo.svg) [f](`Mod.fun/1`)"
        " [g](Mod.html#fun/1) [[h]] [i](`fun/1`) [j](readme.html)"
    ),
    "docsify": "[a](guide/start.md) [b](/guide/start#set-up) ![c](logo.svg)",
}
BROKEN = {
    "vitepress": "[a](/guide/begin) [b](begin.html) [c](/guide/start#Set-up) ![d](/lgo.svg)",
    "mkdocs": "[a](begin.md) [b](guide/start.md#start-here-) ![c](lgo.svg) <img src='lgo.png'>",
    "docusaurus": "[a](begin.md) [b](/docs/guide/start#setup) [c](02-start.mdx) ![d](/lgo.svg)",
    "hugo": "[a](/guide/begin/) [b](/guide/start/#setup) [c](begin.md) ![d](/lgo.svg)",
    "mdbook": "[a](begin.html) [b](guide/start.html#setup) [c](begin.md) {{#include x.rs}}",
    "jekyll": "[a](begin.md) [b](/guide/start/#setup) ![c](lgo.svg) ![d](/lgo.svg)",
    "hexo": "[a](begin.md) [b](guide/start.html#set-up) ![c](lgo.svg) ![d](/lgo.svg)",
    "sphinx": "[a](begin.md) [b](guide/start.md#setup) [c](#gaol) ![d](lgo.svg)",
    "starlight": "[a](/guide/begin/) [b](/guide/start-v12/#setup) [c](begin.md) ![d](/lgo.svg)",
    "nextra": "[a](begin.md) [b](/guide/start#set-up) [c](start.mdx) ![d](/lgo.svg)",
    "fumadocs": "[a](begin.mdx) [b](/docs/guide/start#set-up) [c](start.mdx) ![d](/lgo.svg)",
    "eleventy": "[a](begin.md) [b](/guide/start/#begin) [c](start.md) ![d](/lgo.svg)",
    "vocs": "[a](./begin.mdx) [b](/guide/start#begin) [c](/guide/begin.mdx) ![d](/lgo.svg)",
    "quarto": "[a](begin.md) [b](guide/start.md#begin) [c](start.md) ![d](lgo.svg)",
    "nuxt": "[a](begin.md) [b](guide/start.md#begin) [c](more/index.md) ![d](lgo.svg)",
    "exdoc": "[a](old.md) [b](2-start-here.html#begin) [c](README.mdx) ![d](logo.svg)",
    "docsify": "[a](begin.md) [b](/guide/start#begin) [c](start.md) ![d](lgo.svg)",
}


@pytest.mark.parametrize("generator", SITES)
def test_links_that_the_generator_resolves_are_not_reported(repository, found, generator):
    _write(repository, generator, WORKING[generator])

    assert found(repository) == []


@pytest.mark.parametrize("generator", SITES)
def test_links_that_the_generator_cannot_resolve_are_reported(repository, found, generator):
    _write(repository, generator, BROKEN[generator])

    # Eleventy's anchors are those of plug-ins
    assert len(found(repository)) == (3 if generator == "eleventy" else 4)


def test_page_in_the_default_language_only_is_not_broken(repository, found, fix):
    repository.write("docs/en/mkdocs.yml", "site_name: x\n")
    repository.write("docs/en/docs/a.md", "# A\n\n## B\n")
    repository.write("docs/en/docs/sub/only.md", "# Only\n")
    repository.write("docs/en/docs/logo.svg", "<svg/>\n")
    page = "# A\n\n[a](a.md#b) ![b](logo.svg) [c](sub/only.md) [d](only.md)\n"
    repository.write("docs/ja/docs/x.md", page)
    repository.commit()

    assert found(repository) == ["error broken-link docs/ja/docs/x.md:3 markdown only.md"]
    assert fix(repository).fixed == ()  # docs/en/docs/sub/only.md is in another language


def test_pages_in_the_navigation_are_not_orphans(repository, found):
    _write(repository, "mkdocs", "")
    assert found(repository, rules=["orphan-doc"]) == ["warning orphan-doc docs/src/page.md:1"]

    repository.write("mkdocs.yml", "site_name: x\ndocs_dir: docs/src\n")
    repository.commit()
    assert found(repository, rules=["orphan-doc"]) == []


def test_changed_configuration_resolves_links_again(repository, found):
    _write(repository, "vitepress", "[a](/guide/start) [b](/src/guide/start)")
    assert [finding[-18:] for finding in found(repository)] == ["n /src/guide/start"]

    repository.write("docs/.vitepress/config.mts", "export default { srcDir: '.' }\n")
    assert [finding[-14:] for finding in found(repository)] == ["n /guide/start"]

    config = '{"sites": [{"generator": "none", "folder": "docs"}]}'
    repository.write(".ubp/config.json", config)
    assert found(repository) == []

    config = '{"sites": [{"generator": "vitepress", "folder": "docs", "root": "docs/src"}]}'
    repository.write(".ubp/config.json", config)
    assert [finding[-18:] for finding in found(repository)] == ["n /src/guide/start"]


def test_sites_of_a_repository_have_separate_rules(repository, found):
    for generator in ("vitepress", "mkdocs"):
        for path, text in SITES[generator].items():
            repository.write(f"{generator}/{path}", text)
    repository.write("vitepress/docs/src/page.md", "# A\n\n[a](/guide/start#set-up)\n")
    repository.write("mkdocs/docs/src/page.md", "# A\n\n[a](guide/start.md#start-here)\n")
    repository.write("README.md", "# A\n\n[a](mkdocs/docs/src/guide/start.md#set-up)\n")
    repository.commit()

    assert found(repository) == []


def test_configurations_of_other_programs_are_not_parsed(repository, found, monkeypatch):
    def read_settings(path, _):
        raise AssertionError(path)

    monkeypatch.setattr(generators, "_read_settings", read_settings)
    repository.write(".github/ISSUE_TEMPLATE/config.yml", "baseURL: x\n")
    repository.write("deploy/config.yaml", "replicas: 3\n")
    repository.write("src/page.md", "[a](missing.md)\n")
    repository.commit()

    assert len(found(repository)) == 1

    repository.write("config.toml", "baseURL = 'https://example.org'\n")
    with pytest.raises(AssertionError, match=r"config\.toml"):
        found(repository)


def _write(repository, generator, links):
    for path, text in SITES[generator].items():
        repository.write(path, text)
    page = PAGES.get(generator, "docs/src/page.md")
    repository.write(page, f"# Page\n\n{links}\n")
    repository.commit()


def test_links_of_a_hugo_site_resolve_as_in_a_browser(repository, found):
    _write(repository, "hugo", "")
    links = "[a](guide/start/) [b](../guide/start/) [c](/Guide/Start/)"
    repository.write("docs/src/about.md", f"# About\n\n{links}\n")
    assert found(repository) == [
        "error broken-link docs/src/about.md:3 markdown guide/start/",
        "error broken-link docs/src/about.md:3 markdown /Guide/Start/",
    ]

    # a template of the site's own finds them by their paths
    repository.write("docs/layouts/_markup/render-link.html", "{{ .Page.GetPage .Destination }}")
    assert found(repository) == []


def test_zensical_has_the_rules_of_mkdocs(repository, found):
    config = (
        '[project]\nsite_name = "x"\ndocs_dir = "src"\n'
        'nav = [{"Use" = ["use.md", {"A" = "a.md"}]}]\n'
        '[project.markdown_extensions.toc]\nseparator = "_"\n'
        'slugify = {object = "pymdownx.slugs.slugify", kwds = {case = "lower"}}\n'
    )
    repository.write("zensical.toml", config)
    repository.write("src/a.md", "# A\n\n## Más dos {#own}\n")
    repository.write("src/use.md", "# Use\n\n[a](a.md#más_dos_own) [b](a.md#own) [c](b.md)\n")
    repository.commit()
    assert found(repository) == [
        "warning missing-anchor src/use.md:3 markdown a.md#own",
        "error broken-link src/use.md:3 markdown b.md",
    ]
    repository.write("zensical.toml", '[project]\nsite_name = "x"\ndocs_dir = "src"\n')
    assert found(repository) == [
        "warning missing-anchor src/use.md:3 markdown a.md#más_dos_own",
        "error broken-link src/use.md:3 markdown b.md",
    ]


def test_index_of_a_book_is_that_of_the_links_folder(repository, found):
    repository.write("book.toml", "[book]\n")
    repository.write("src/README.md", "# Home\n")
    repository.write("src/api/index.md", "# API\n\n## Use\n")
    links = "[a](index.html#use) [b](../index.html#home) [c](index.html#home)"
    repository.write("src/api/write.md", f"# Write\n\n{links}\n")
    assert found(repository) == [
        "warning missing-anchor src/api/write.md:3 markdown index.html#home"
    ]


def test_vitepress_publishes_a_folder_from_index_alone(repository, found):
    repository.write("docs/.vitepress/config.mts", "export default {}\n")
    repository.write("docs/index.md", "# Home\n")
    repository.write("docs/README.md", "# About this folder\n")
    repository.write("docs/guide.md", "# Guide\n\n[home](/) [about](/README) [none](/sub/)\n")
    repository.write("docs/sub/README.md", "# Sub\n")
    repository.commit()
    assert found(repository) == ["error broken-link docs/guide.md:3 markdown /sub/"]


def test_front_matter_of_another_generator_sets_no_address(repository, found):
    repository.write("docs/.vitepress/config.mts", "export default {}\n")
    repository.write("docs/cli.md", "---\npermalink: /reference/cli/\nslug: x\n---\n# CLI\n")
    repository.write("docs/a.md", "# A\n\n[cli](/cli) [x](/x)\n")
    repository.commit()
    assert found(repository) == ["error broken-link docs/a.md:3 markdown /x"]


def test_label_of_a_wikilink_is_in_front_of_the_page_in_dendron_alone(repository, found):
    repository.write("dendron.yml", "workspace:\n  vaults:\n    - fsPath: vault\n      name: x\n")
    links = (
        "[[Our events|a.events]] [[see a.plans|dendron://x/a.events#soon]] [[a.gone]]"
        " [[A thing|a.gone]] ![[a.events#soon,1:#*]] ![[a.events#^begin]] ![[a.events#late:#*]]"
    )
    repository.write("vault/a.md", f"# A\n\n{links}\n")
    repository.write("vault/a.events.md", "# Events\n\n## Soon\n")
    repository.write("vault/a.plans.md", "# See a.plans\n")
    repository.write("other.md", "# Other\n\n[[a.events|Our events]] [[Our events|a.events]]\n")
    repository.commit()
    assert found(repository) == [
        "error broken-link other.md:3 wikilink Our events",
        "error broken-link vault/a.md:3 wikilink a.gone",
        "warning missing-anchor vault/a.md:3 embed a.events#late:#*",
    ]
    with Workspace.open(str(repository.root)) as workspace:
        assert _targets(workspace) == {"Our events", "see a.plans", "a.events"}
        repository.write("vault/a.gone.md", "# Here again\n")  # the links request it
        assert _targets(workspace) == {"Our events", "see a.plans", "a.events", "a.gone", "A thing"}


def _targets(workspace):
    """Return what the links of a page that lead to pages have in front of the bar."""
    edges = open_graph(workspace.session.view()).all_edges()
    return {
        edge.link.target for edge in edges if edge.source == "vault/a.md" and edge.resolution.target
    }


def test_zola_links_begin_in_its_content_folder(repository, found):
    repository.write("docs/config.toml", 'base_url = "https://example.org"\ntitle = "x"\n')
    repository.write("docs/content/guide/_index.md", "+++\ntitle = 'Guide'\n+++\n")
    repository.write("docs/content/guide/start.md", "+++\ntitle = 'Start'\n+++\n## Set up\n")
    links = "[a](@/guide/_index.md) [b](@/guide/start.md#set-up) " * 2
    repository.write("docs/content/a.md", f"{links}[c](@/guide/start.md#no) [d](@/gone.md)\n")
    repository.commit()
    assert found(repository) == [
        "warning missing-anchor docs/content/a.md:1 markdown @/guide/start.md#no",
        "error broken-link docs/content/a.md:1 markdown @/gone.md",
    ]


def test_config_of_hugo_is_not_taken_for_zolas():
    config = b"baseURL = 'https://example.org/'\ntheme = 'x'\n"
    (site,) = detect.find_sites({"docs/config.toml": config})
    assert site.style.name == "hugo"


def test_vitepress_reads_its_own_keys_not_those_of_a_sidebar(repository, found):
    config = (
        "import { shared } from './shared'\nconst BASE = '/x'\n"
        "export default defineConfig({\n"
        "  themeConfig: { sidebar: { '/': { base: '/api/', items: [] } } },\n"
        "  base: `${BASE}/`, srcDir: './src',\n})\n"
    )
    repository.write("docs/.vitepress/config/index.mts", config)
    repository.write("docs/src/index.md", "# Home\n\n[a](/x/page) [b](/api/page)\n")
    repository.write("docs/src/page.md", "# Page\n")
    repository.commit()
    assert found(repository) == ["error broken-link docs/src/index.md:3 markdown /api/page"]


def test_vitepress_reads_its_settings_and_no_parameters_of_functions(repository, found):
    before = "function plugins(base: string, srcDir: string) { return [] }\n"
    config = f"{before}export default wrap(defineConfig({{ srcDir: 'src', title: 'x' }}))\n"
    repository.write("docs/.vitepress/config.mts", config)
    repository.write("docs/src/index.md", "# Home\n\n[a](/page) [b](/src/page)\n")
    repository.write("docs/src/page.md", "# Page\n")
    repository.commit()

    assert found(repository) == ["error broken-link docs/src/index.md:3 markdown /src/page"]


def test_vitepress_rewrites_move_pages_and_the_links_in_them(repository, found):
    rewrites = "{ 'packages/:pkg/src/(.*)': ':pkg/(.*)', 'zh/:rest*': ':rest*' }"
    repository.write("docs/.vitepress/config.mts", f"export default {{ rewrites: {rewrites} }}\n")
    links = "[a](/core/guide) [b](./guide) [c](../ui/start.md) [d](/packages/core/src/guide)\n"
    repository.write("docs/packages/core/src/index.md", f"# Core\n\n{links}")
    repository.write("docs/packages/core/src/guide.md", "# Guide\n")
    repository.write("docs/packages/ui/src/start.md", "# Start\n")
    repository.write("docs/zh/start.md", "# Start\n\n[e](/start) [f](/zh/start)\n")
    repository.commit()
    assert found(repository) == [
        "error broken-link docs/packages/core/src/index.md:3 markdown /packages/core/src/guide",
        "error broken-link docs/zh/start.md:3 markdown /zh/start",
    ]


@pytest.mark.parametrize(
    ("path", "config"),
    [
        ("docs/.vitepress/config/shared.mts", "export const slugify = (s) => s\n"),
        ("docs/.vitepress/config.mts", "export default { markdown: { anchor: { slugify } } }\n"),
        (
            "docs/.vitepress/config.mts",
            "import { defineConfig } from '@x/site'\nexport default defineConfig({})\n",
        ),
        (
            "docs/.vitepress/config.mts",
            "import theme from '@x/site'\nexport default { title: 'x', ...theme }\n",
        ),
        ("docs/.vitepress/config.mts", "export default { extends: theme(), title: 'x' }\n"),
        (
            "mkdocs.yml",
            "markdown_extensions:\n  - toc:\n      slugify: !!python/name:own.names\n",
        ),
    ],
)
def test_anchors_of_the_site_are_checked_where_every_function_makes_the_same(
    repository, found, path, config
):
    if path.endswith("shared.mts"):
        repository.write("docs/.vitepress/config/index.mts", "export default {}\n")
    repository.write(path, config)
    links = "[a](#HOME) [b](#set-up) [c](#usemenu) [d](#use-names) [e](#a_b) [f](#removed-part)\n"
    repository.write("docs/index.md", f"# Home\n\n## Set up\n\n## useMenu(id)\n\n{links}")
    repository.write("docs/signs.md", "# This & that\n\n[a](#this-and-that) [b](#removed-part)\n")
    nested = "# Guide\n\n## Install\n\n### Use Linux\n\n"
    links = "[a](#install-use-linux) [b](#guide-install-use-linux) [c](#install-use)\n"
    repository.write("docs/nested.md", nested + links)
    repository.write("docs/letters.md", "# \u914d\u7f6e\n\n[a](#pei-zhi) [b](#removed-part)\n")
    repository.commit()
    assert found(repository) == [
        "warning missing-anchor docs/index.md:7 markdown #use-names",
        "warning missing-anchor docs/index.md:7 markdown #removed-part",
        "warning missing-anchor docs/nested.md:7 markdown #install-use",
    ]


def test_anchors_are_those_of_vitepress_where_other_packages_are_plugins(repository, found):
    config = (
        "import { defineConfig } from 'vitepress'\nimport { tabs, theme } from 'vitepress-plugin'\n"
        "export default defineConfig({ title: 'x', themeConfig: { ...theme, extends: theme },\n"
        "  markdown: { config: (md) => md.use(tabs) } })\n"
    )
    repository.write("docs/.vitepress/config.mts", config)
    repository.write("docs/index.md", "# Home\n\n[a](#away)\n")
    repository.commit()
    assert found(repository) == ["warning missing-anchor docs/index.md:3 markdown #away"]


@pytest.mark.parametrize(
    ("path", "config"),
    [
        ("mkdocs.yml", "use_directory_urls: {}\n"),
        ("zensical.toml", "[project]\nsite_name = 'x'\nuse_directory_urls = {}\n"),
    ],
)
def test_page_of_mkdocs_is_a_folder_unless_a_setting_makes_it_a_file(path, config):
    styles = [
        detect.find_sites({path: config.format(setting).encode()})[0].style.is_pretty
        for setting in ("true", "false")
    ]
    assert styles == [True, False]


def test_wiki_of_github_finds_pages_in_any_letter_case(repository, check, found):
    repository.write("_Sidebar.md", "[[Home]] [s](Search) [r](readme) [[Set up]]\n")
    repository.write("Set-up.md", "# Install\n\n[a](#removed-part) ![b](images/removed.png)\n")
    repository.write("Home.md", "# Home\n\n[s](Search) [i](Index)\n")
    repository.write("SEARCH.md", "# Search\n\n[home](home) [s](#search)\n")
    repository.write("INDEX.md", "# Index\n")
    repository.write("README.md", "# Read me\n")
    repository.commit()
    assert found(repository) == [
        "warning missing-anchor Set-up.md:3 markdown #removed-part",
        "error broken-link Set-up.md:3 image images/removed.png",
    ]
    repository.git("mv", "SEARCH.md", "Find-Things.md")
    fixes = [finding.fix.text for finding in check(repository).findings if finding.fix]
    assert fixes == ["Find-Things", "Find-Things"]


def test_label_of_a_wikilink_is_in_front_of_the_page_in_wikis(repository, found):
    repository.write("_Sidebar.md", "[[How to build|Set up]] [[Set up|Gone]] [[Gone]]\n")
    repository.write("Home.md", "# Home\n\n[[Last year|Old-plans]] [[Plans (old)|old plans#May]]\n")
    repository.write("Set-up.md", "# Install\n")
    repository.write("Old-plans.md", "# Plans\n\n## May\n")
    repository.commit()
    assert found(repository) == ["error broken-link _Sidebar.md:1 wikilink Gone"]
    with Workspace.open(str(repository.root)) as workspace:
        edges = open_graph(workspace.session.view()).all_edges()
        targets = sorted(edge.resolution.target for edge in edges if edge.resolution.target)
    assert targets == ["Old-plans.md", "Old-plans.md", "Set-up.md"]


def test_hugo_writes_hyphens_for_spaces_in_addresses(repository, found, fix):
    repository.write("hugo.toml", "baseURL = 'https://example.org/'\n")
    repository.write("content/Use it/_index.md", "[a](./Options-Overrides) [b](../Use-it/gone)\n")
    repository.write("content/Use it/Options & Overrides.md", "# A\n\n[b](../日本語-ガイド/)\n")
    repository.write(
        "content/Use it/日本語 (ガイド).md", "# C\n\n[a](/use-it/options-overrides/)\n"
    )
    repository.write("content/a.md", "[a](/Use%20it/Options%20&%20Overrides)\n")
    repository.commit()
    assert found(repository) == [
        "error broken-link content/Use it/_index.md:1 markdown ../Use-it/gone"
    ]
    repository.git("mv", "content/Use it/Options & Overrides.md", "content/Use it/All settings.md")
    fix(repository)
    page = repository.root / "content" / "Use it"
    assert "[a](./all-settings)" in (page / "_index.md").read_text()
    assert "[a](/use-it/all-settings/)" in (page / "日本語 (ガイド).md").read_text()


def test_docusaurus_finds_pages_by_paths_from_the_site_too(repository):
    config = "module.exports = { presets: [['classic', { docs: {} }]] }\n"
    repository.write("www/docusaurus.config.js", config)
    repository.write("www/docs/use/a.mdx", "# A\n")
    repository.write(
        "www/docs/b.md", "# B\n\n[a](/docs/use/a.mdx) [c](/use/a.mdx) [d](/docs/d.mdx)\n"
    )
    repository.commit()
    with Workspace.open(str(repository.root)) as workspace:
        edges = open_graph(workspace.session.view()).all_edges()
        targets = [edge.resolution.target for edge in edges]
    assert targets == ["www/docs/use/a.mdx", "www/docs/use/a.mdx", None]


def test_docusaurus_versions_and_instances_have_addresses_of_their_own(repository, found):
    config = (
        "const base = '/site'\nconst docs = [{ id: 'api', path: 'api', routeBasePath: '/ref' }]\n"
        "module.exports = { baseUrl: `${base}/`, presets: [['classic', { docs: {\n"
        "  routeBasePath: '/', lastVersion: 'current',\n"
        "  versions: { current: { label: 'v3' }, '2.0': { path: 'old' } } } }]] }\n"
    )
    repository.write("docusaurus.config.js", config)
    repository.write("versions.json", '["2.0", "1.0"]\n')
    repository.write("api_versions.json", '["1.0"]\n')
    for folder in ("docs", "versioned_docs/version-2.0", "versioned_docs/version-1.0"):
        repository.write(f"{folder}/guide.md", f"# {folder}\n")
    repository.write("api_versioned_docs/version-1.0/call.md", "# Call\n")
    repository.write("api/call.md", "# Call\n\n## Now\n")
    links = "[a](/guide#docs) [b](/old/guide#versioned_docsversion-20) [c](/ref/next/call#now)"
    more = "[d](/1.0/guide#versioned_docsversion-10) [e](/site/guide#docs) [f](@site/api/call.md)"
    repository.write("docs/index.md", f"# Home\n\n{links} {more} [g](/ref/call#now)\n")
    repository.commit()
    assert found(repository) == ["warning missing-anchor docs/index.md:3 markdown /ref/call#now"]


def test_settings_of_the_theme_of_docusaurus_are_not_those_of_its_pages(repository, found):
    repository.write(
        "docusaurus.config.js",
        "module.exports = { themeConfig: { docs: { sidebar: { hideable: true } }, blog: {} },\n"
        "  presets: [['classic', { docs: { path: 'pages', routeBasePath: '/' },\n"
        "    blog: { routeBasePath: 'news' } }]] }\n",
    )
    repository.write("pages/guide.md", "# Guide\n\n## Go\n")
    repository.write("blog/first.md", "# First\n\n## Now\n")
    repository.write("pages/use.md", "# Use\n\n[a](/guide#went) [b](/news/first#then)\n")
    repository.commit()
    assert found(repository, lists_unconfirmed=True) == [
        "warning missing-anchor pages/use.md:3 markdown /guide#went",
        "warning missing-anchor pages/use.md:3 markdown /news/first#then",
    ]


def test_tilde_of_a_link_may_be_an_alias_of_the_site_s_bundler(repository, found):
    repository.write("astro.config.mjs", "import starlight from '@astrojs/starlight'\n")
    repository.write("public/img/old.png", "x")
    repository.commit()
    repository.git("mv", "public/img/old.png", "public/img/new.png")
    text = "# Use\n\n![a](~/img/old.png) [b](~/parts/b.mdx)\n"
    repository.write("src/content/docs/use.md", text)
    repository.commit()
    assert found(repository, lists_unconfirmed=True) == []


def test_docusaurus_publishes_the_folders_that_it_names(repository, found):
    config = "export default { staticDirectories: ['public', './more/files'] }\n"
    repository.write("docusaurus.config.ts", config)
    repository.write("public/img/a.png", "x")
    repository.write("more/files/img/b.png", "x")
    repository.write("static/img/c.png", "x")
    repository.write(
        "docs/index.md", "# Home\n\n![a](/img/a.png) ![b](/img/b.png) ![c](/img/c.png)\n"
    )
    repository.commit()
    assert found(repository, lists_unconfirmed=True) == [
        "error broken-link docs/index.md:3 image /img/c.png"
    ]


def test_of_a_page_and_a_folder_at_an_address_hugo_publishes_the_folder(repository, found):
    repository.write("hugo.toml", "baseURL = 'https://example.org/'\n")
    repository.write("content/use/old.md", "# Old\n\n## First\n")
    repository.write("content/use/old/index.md", "# New\n\n## Second\n\n## Third\n")
    repository.write("content/a.md", "# A\n\n[x](/use/old/#second) [y](/use/old/#fist)\n")
    repository.commit()
    assert found(repository, lists_unconfirmed=True) == [
        "warning missing-anchor content/a.md:3 markdown /use/old/#fist"
    ]


def test_language_of_hugo_without_a_folder_has_that_of_the_site(repository, found):
    repository.write(
        "config.toml",
        "baseURL = 'https://example.org/'\ncontentDir = 'content/en'\n"
        "[languages.en]\nweight = 1\n[languages.es]\ncontentDir = 'content/es'\n",
    )
    repository.write("content/en/about/goals.md", "# Goals\n\n## First\n\n[a](/es/use/#uno)\n")
    links = "[a](/about/goals/#first) [b](/about/goals/#gone) [c](/es/use/#dos)"
    repository.write("content/es/use/_index.md", f"# Uso\n\n## Uno\n\n{links}\n")
    repository.commit()
    assert found(repository) == [
        "warning missing-anchor content/es/use/_index.md:5 markdown /about/goals/#gone",
        "warning missing-anchor content/es/use/_index.md:5 markdown /es/use/#dos",
    ]


def test_languages_of_hugo_in_a_file_of_their_own_have_folders(repository, found):
    config = "config/_default"
    repository.write(f"{config}/hugo.toml", "baseURL = 'https://example.org/'\n")
    repository.write(f"{config}/languages.toml", "[en]\ncontentDir = 'content/english'\n")
    repository.write(f"{config}/languages.fr.toml", "contentDir = 'content/french'\n")
    repository.write("content/english/use/a.md", "# A\n\n[a](/use/b/) [b](/fr/use/b/)\n")
    for language in ("english", "french"):
        front = "---\nurl: /x/y/\n---\n"
        repository.write(f"content/{language}/use/b.md", "# B\n\n[x](/x/y/) [z](/use/z/)\n")
        repository.write(f"content/{language}/use/c.md", f"{front}# C\n")
    repository.commit()

    assert found(repository, lists_unconfirmed=True) == [
        "error broken-link content/english/use/b.md:3 markdown /use/z/",
        "error broken-link content/french/use/b.md:3 markdown /use/z/",
    ]


def test_links_between_folders_that_hugo_mounts_are_paths_of_published_pages(repository, found):
    repository.write(
        "site/hugo.yaml",
        "baseURL: https://example.org/\nmodule:\n  mounts:\n"
        "    - {source: content, target: content}\n"
        "    - {source: ../docs, target: content/docs}\n",
    )
    repository.write("site/content/_index.md", "# Home\n\n[a](docs/page.md) [b](docs/none.md)\n")
    repository.write("docs/page.md", "# Page\n\n[c](other.md) [d](../start.md) [e](none.md)\n")
    repository.write("docs/other.md", "# Other\n")
    repository.write("site/content/start.md", "# Start\n")
    repository.commit()

    assert found(repository, lists_unconfirmed=True) == [
        "error broken-link docs/page.md:3 markdown none.md",
        "error broken-link site/content/_index.md:3 markdown docs/none.md",
    ]


def test_folders_that_hugo_mounts_for_languages_are_no_two_pages_of_an_address(repository, found):
    repository.write(
        "hugo.yaml",
        "baseURL: https://example.org/\nlanguages: {en: {weight: 1}, fr: {weight: 2}}\n"
        "module:\n  mounts:\n"
        "    - source: content/fr\n      target: content\n"
        "      sites: {matrix: {languages: [fr]}}\n"
        "    - source: content/en\n      target: content\n"
        "      sites: {matrix: {languages: [en, fr]}}\n",
    )
    repository.write("content/fr/_index.md", "# Accueil\n")
    repository.write("content/en/_index.md", "# Home\n")
    repository.write("content/en/use/a.md", "# A\n\n[a](/) [b](/fr/) [c](/use/gone/)\n")
    repository.commit()

    assert found(repository, lists_unconfirmed=True) == [
        "error broken-link content/en/use/a.md:3 markdown /use/gone/"
    ]


def test_readme_beside_the_page_of_a_folder_of_hugo_is_no_second_one(repository, found):
    repository.write("hugo.toml", "baseURL = 'https://example.org/'\n")
    for name in ("_index", "README"):
        repository.write(f"content/use/about/{name}.md", "# About\n")
    repository.write("content/use/_index.md", "# Use\n\n[a](about/)\n")
    repository.commit()

    assert found(repository) == []


def test_address_from_the_root_in_docusaurus_begins_in_the_language_of_its_page(repository, found):
    repository.write("docusaurus.config.js", "module.exports = {}\n")
    translated = "i18n/zh/docusaurus-plugin-content-docs/current"
    repository.write("docs/use.md", "# Use\n\n## Begin\n")
    repository.write("docs/more.md", "# More\n\n## Only here\n")
    repository.write(f"{translated}/use.md", "# 使用\n\n## 开始\n\n## 更多\n")
    links = "[a](/docs/use#开始) [b](/docs/use#begin) [c](/docs/more#only-here)"
    repository.write(f"{translated}/index.md", f"# 首页\n\n{links}\n")
    repository.commit()
    assert found(repository) == [
        f"warning missing-anchor {translated}/index.md:3 markdown /docs/use#begin"
    ]


@pytest.mark.parametrize("theme", ["", "themes/plain/"])
def test_template_of_hugo_for_links_may_be_that_of_a_theme(repository, check, theme):
    repository.write("hugo.toml", "baseURL = 'https://example.org/'\ntheme = 'plain'\n")
    repository.write("content/use/api.md", "# API\n")
    repository.write("content/use/a.md", "# A\n\n[x](api/)\n")
    repository.commit("Begin")
    assert [finding.subject for finding in check(repository).findings] == ["markdown api/"]
    repository.write(f"{theme}layouts/_default/_markup/render-link.html", "{{ .Destination }}\n")
    repository.commit("Write")
    assert check(repository).findings == ()


def test_example_of_a_theme_is_no_site_of_the_project(repository, check):
    for folder in ("", "themes/plain/exampleSite/", "exampleSite/"):
        repository.write(f"{folder}hugo.toml", "baseURL = 'https://example.org/'\n")
        repository.write(f"{folder}content/guide/b.md", "# B\n")
        repository.write(f"{folder}content/a.md", "# A\n\n[x](/guide/gone/)\n")
    repository.commit()
    paths = [finding.filepath for finding in check(repository).findings]
    assert paths == ["content/a.md", "exampleSite/content/a.md"]


@pytest.mark.parametrize(("renderer", "is_known"), [("marked", True), ("kramed", False)])
def test_anchors_of_hexo_are_those_of_its_renderer(repository, found, renderer, is_known):
    requires = f'{{"dependencies": {{"hexo": "^7", "hexo-renderer-{renderer}": "^7"}}}}\n'
    repository.write("package.json", requires)
    repository.write("_config.yml", "title: x\n")
    repository.write("source/a.md", "# A\n\n## Set up\n\n[x](#Set-up) [y](#set-up)\n")
    repository.commit()
    lost = ["warning missing-anchor source/a.md:5 markdown #set-up"]
    assert found(repository) == (lost if is_known else [])


def test_address_of_a_site_of_hugo_is_that_of_production(repository, found):
    for folder, base in (("_default", "/"), ("production", "https://example.org/docs")):
        repository.write(f"config/{folder}/hugo.toml", f"baseURL = '{base}'\ntitle = 'x'\n")
    repository.write("content/use/a.md", "# A\n\n[x](/docs/use/b/#part) [y](/docs/use/b/#gone)\n")
    repository.write("content/use/b.md", "# B\n\n## Part\n")
    repository.commit()
    assert found(repository) == [
        "warning missing-anchor content/use/a.md:3 markdown /docs/use/b/#gone"
    ]


@pytest.mark.parametrize("setting", ["", "staticDir = 'files'\n", "staticDir = ['x', 'files']\n"])
def test_files_of_hugo_are_in_the_folders_of_its_setting(repository, found, setting):
    repository.write("hugo.toml", f"baseURL = 'https://example.org/'\n{setting}")
    repository.write("files/img/first.png", "x")
    repository.write("content/a.md", "# A\n\n![x](/img/first.png)\n")
    repository.commit()
    lost = ["error broken-link content/a.md:3 image /img/first.png"]
    assert found(repository) == ([] if setting else lost)


@pytest.mark.parametrize("theme", ["'plain'", "['other', 'plain']"])
def test_files_of_a_theme_of_hugo_are_published(repository, found, theme):
    repository.write("hugo.toml", f"baseURL = 'https://example.org/'\ntheme = {theme}\n")
    repository.write("themes/plain/static/img/first.png", "x")
    repository.write("themes/unused/static/img/second-part.png", "x")
    repository.write("content/a.md", "# A\n\n![x](/img/first.png) ![y](/img/second-part.png)\n")
    repository.write("content/b.md", "# B\n\n![x](../img/first.png)\n")
    repository.commit()
    assert found(repository) == ["error broken-link content/a.md:3 image /img/second-part.png"]


@pytest.mark.parametrize("languages", [["en"], ["en", "fr"]])
def test_links_are_paths_too_where_hugo_has_several_languages(repository, found, languages):
    tables = "".join(f"[languages.{language}]\nweight = 1\n" for language in languages)
    repository.write("hugo.toml", f"baseURL = 'https://example.org/'\n{tables}")
    repository.write("content/use/allow.md", "# Allow\n\n[x](./block)\n")
    repository.write("content/use/block.md", "# Block\n")
    repository.commit()
    written = "error broken-link content/use/allow.md:3 markdown ./block"
    assert found(repository) == ([] if len(languages) > 1 else [written])


def test_redirects_that_a_template_of_hugo_makes_are_read(repository, found):
    repository.write("hugo.toml", "baseURL = 'https://example.org/'\n")
    template = "{{ $now := 2 }}\n/use/now/*  /use/{{ $now }}/:splat\n{{ $old }}/x /y\n"
    repository.write("layouts/index.redirects", template)
    repository.write("content/use/2/a.md", "# A\n")
    repository.write("content/b.md", "# B\n\n[x](/use/now/a/) [y](use/2/a/)\n")
    repository.commit()
    assert found(repository) == ["error broken-link content/b.md:3 markdown use/2/a/"]


def test_terms_in_mdbook_have_anchors_where_their_definitions_are_indented(repository, found):
    repository.write("book.toml", "[book]\ntitle = 'x'\n")
    repository.write("src/SUMMARY.md", "- [A](a.md)\n")
    text = "A list of terms.\n\nsmart pointer\n  : A pointer.\n\nwheel\n: A package.\n"
    links = "[a](#smart-pointer) [b](#wheel) [c](#whel)"
    repository.write("src/a.md", f"# A\n\n{text}\n{links}\n")
    repository.commit()
    assert found(repository) == ["warning missing-anchor src/a.md:11 markdown #whel"]


def test_front_matter_of_hugo_may_follow_empty_lines(repository, found):
    repository.write("hugo.toml", "baseURL = 'https://example.org/'\n")
    repository.write("content/a.md", "# A\n\n[x](/old/#part) [y](/old/#gone)\n")
    front = '\n\n+++\naliases = ["/old/"]\n+++\n\n'
    repository.write("content/new.md", f"{front}# New\n\n## Part\n\n## Other\n")
    repository.commit()
    assert found(repository) == ["warning missing-anchor content/a.md:3 markdown /old/#gone"]


@pytest.mark.parametrize(
    ("name", "address"),
    [
        ("01-part", "part"),
        ("1 - part", "part"),
        ("0.14.0-part", "0.14.0-part"),
        ("2021-11-part", "2021-11-part"),
        ("part-2-more", "part-2-more"),
    ],
)
def test_number_before_a_name_is_no_part_of_an_address_but_a_version_is(
    repository, found, name, address
):
    repository.write("docusaurus.config.js", "module.exports = {}\n")
    repository.write(f"docs/{name}.md", "# Part\n\n## Use\n")
    target = f"/docs/{address}"
    repository.write("docs/index.md", f"# Index\n\n[a]({target}#use) [b]({target}#gone)\n")
    repository.commit()
    assert found(repository) == [f"warning missing-anchor docs/index.md:3 markdown {target}#gone"]


def test_path_from_the_root_is_one_of_the_page_s_own_version(repository, found):
    repository.write("docusaurus.config.js", "module.exports = {}\n")
    repository.write("versions.json", '["2.0", "1.0"]\n')
    last, first = (f"versioned_docs/version-{number}.0/main" for number in (2, 1))
    for folder, heading in (("docs/main", "New"), (last, "Now"), (first, "Old")):
        repository.write(f"{folder}/setup.md", f"# Setup\n\n## {heading}\n")
        repository.write(f"{folder}/more/index.md", "# More\n\n[a](/main/setup.md#old)\n")
    repository.write("main/setup.md", "# Setup\n\n## Old\n")  # no page of the site
    repository.commit()
    assert found(repository) == [
        f"warning missing-anchor {folder}/more/index.md:3 markdown /main/setup.md#old"
        for folder in ("docs/main", last)
    ]


def test_path_from_a_folder_of_pages_is_one_of_the_page_s_own_version(repository, found):
    config = (
        "const pages = 'src/pages-of-docs'\nmodule.exports = { presets: [['classic', { docs: {\n"
    )
    repository.write("docusaurus.config.js", f"{config}  path: pages,\n}} }}]] }}\n")
    repository.write("versions.json", '["2.0", "1.0"]\n')
    folders = ("src/pages-of-docs", "versioned_docs/version-2.0", "versioned_docs/version-1.0")
    for folder, heading in zip(folders, ("New", "Now", "Old"), strict=True):
        repository.write(f"{folder}/core/setup.mdx", f"# Setup\n\n## {heading}\n")
        text = f"# More\n\n[a](core/setup.mdx#{heading.lower()})\n"
        repository.write(f"{folder}/more/index.md", text)
    repository.commit()
    assert found(repository) == []
    repository.write(f"{folders[2]}/more/index.md", "# More\n\n[a](core/setup.mdx#now)\n")
    assert found(repository) == [
        f"warning missing-anchor {folders[2]}/more/index.md:3 markdown core/setup.mdx#now"
    ]


def test_page_imported_from_a_package_is_not_in_the_repository(repository, check):
    repository.write("docusaurus.config.js", "module.exports = {}\n")
    text = "import Props from '@own/parts/props.md';\n\n# Home\n\n<Props />\n\n[a](#of-props)\n"
    repository.write("docs/index.mdx", text)
    repository.commit()
    report = check(repository)
    assert (report.findings, report.unconfirmed) == ((), ())


def test_address_from_the_root_of_a_site_is_no_path_from_the_repository(repository, found):
    repository.write("hugo.toml", "baseURL = 'https://example.org/'\ntheme = 'x'\n")
    repository.write("README.md", "# Project\n")
    repository.write("content/blog/a.md", "# A\n\n[home](/#calendar)\n")
    repository.commit()
    assert found(repository) == []


def test_page_that_git_ignores_below_a_site_is_generated(repository, found):
    repository.write("docs/.vitepress/config.mts", "export default {}\n")
    repository.write(".gitignore", "docs/reference/\n")
    repository.write("docs/index.md", "# Home\n\n[a](/reference/Options.input-path) [b](/gone)\n")
    repository.commit()
    assert found(repository) == ["error broken-link docs/index.md:3 markdown /gone"]


def test_double_brackets_around_routes_and_character_classes_are_no_links(repository, found):
    repository.write("docs/a.md", "# A\n\n[[...slug]] [[:alpha:]] [[gone]]\n")
    repository.commit()
    assert found(repository) == ["error broken-link docs/a.md:3 wikilink gone"]


def test_properdocs_is_configured_as_mkdocs_is(repository, found):
    repository.write("properdocs.yml", "site_name: x\n")
    repository.write("docs/index.md", "# Über uns\n\n[a](#uber-uns) [b](#über-uns)\n")
    repository.commit()
    assert found(repository) == ["warning missing-anchor docs/index.md:3 markdown #über-uns"]


def test_links_of_a_hugo_site_with_a_template_for_them_may_name_an_address_with_suffix(
    repository, found
):
    repository.write("hugo.toml", "baseURL = 'https://example.org/'\ntheme = 'x'\n")
    repository.write("layouts/_default/_markup/render-link.html", "{{ .Destination }}\n")
    repository.write("content/docs/start.md", "# Start\n")
    repository.write("content/docs/a/b.md", "# B\n\n[a](../start/index.md) [b](../begin.md)\n")
    repository.commit()
    assert found(repository) == ["error broken-link content/docs/a/b.md:3 markdown ../begin.md"]


def test_home_of_a_site_is_no_page_where_another_page_links_to_it(repository, found):
    repository.write("hugo.toml", "baseURL = 'https://example.org/'\ntheme = 'x'\n")
    repository.write("README.md", "# Project\n")
    repository.write("templates/post.md", "# Post\n\n[when](/#calendar)\n")
    repository.commit()
    assert found(repository) == []


def test_ids_that_attributes_name_in_full_are_anchors(repository, found):
    repository.write("mkdocs.yml", "site_name: x\nmarkdown_extensions: [attr_list, footnotes]\n")
    headings = '### 9.7.0 <small>May</small> { id="9.7.0" }\n\n### Path { id=way .x }\n'
    links = "[a](#9.7.0) [b](#way) [c](#path) [d](#fn:1)[^1]\n\n[^1]: Note\n"
    repository.write("docs/index.md", f"# Home\n\n{headings}\n{links}")
    repository.commit()
    assert found(repository) == ["warning missing-anchor docs/index.md:7 markdown #path"]


@pytest.mark.parametrize(("hooks", "missing"), [("hooks: [own.py]\n", 1), ("", 2)])
def test_anchor_that_a_hook_of_the_site_may_make_of_a_comment_is_not_checked(
    repository, found, hooks, missing
):
    repository.write("mkdocs.yml", f"site_name: x\n{hooks}")
    repository.write("docs/a.md", "# A\n\n#### <!-- md:setting config.dir -->\n")
    repository.write("docs/index.md", "# Home\n\n[a](a.md#config.dir) [b](a.md#config.file)\n")
    repository.commit()
    assert len(found(repository)) == missing


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("docs/public/_redirects", "# old\n/old/*  /new/:splat  301\n"),
        ("netlify.toml", '[[redirects]]\nfrom = "/old/:page"\nto = "/new/:page"\n'),
        (
            "vercel.json",
            (
                '{"headers": [{"source": "/older/(.*)"}],'
                ' "redirects": [{"source": "/old/:path*", "destination": "/new"}]}'
            ),
        ),
        ("docs/redirects.ts", "export default [{ to: '/new', from: ['/x', '/old/page'] }]\n"),
        ("docs/redirects.mjs", "export const redirects = { '/old/page': '/new' }\n"),
    ],
)
def test_link_to_an_address_that_the_site_redirects_is_no_finding(repository, found, path, text):
    repository.write("docs/.vitepress/config.mts", "export default {}\n")
    repository.write("docs/index.md", "# Index\n\n[a](/old/page) [b](/older/page)\n")
    repository.write(path, text)
    assert found(repository) == ["error broken-link docs/index.md:3 markdown /older/page"]


def test_redirects_of_a_book_are_read(repository, found):
    repository.write(
        "book.toml",
        '[book]\ntitle = "x"\n[output.html.redirect]\n"/old/page.html" = "../new.html"\n',
    )
    repository.write("src/new/page.md", "# New\n\n[a](../old/page.md) [b](../old/other.md)\n")
    assert found(repository) == ["error broken-link src/new/page.md:3 markdown ../old/other.md"]


def test_redirect_of_every_address_hides_no_broken_link(repository, found):
    repository.write("docs/.vitepress/config.mts", "export default {}\n")
    repository.write("docs/index.md", "# Index\n\n[a](/old/page)\n")
    repository.write("docs/public/_redirects", "/*  /404  404\n")
    assert len(found(repository)) == 1


def test_redirects_in_a_configuration_are_read(repository, found):
    repository.write(
        "astro.config.mjs",
        "import starlight from '@astrojs/starlight'\n"
        "export default { integrations: [starlight({})],"
        " redirects: [{ from: '/guide/old', to: '/guide/new' }] }\n",
    )
    repository.write("src/content/docs/guide/new.md", "# New\n\n[a](/guide/old/) [b](/guide/x/)\n")
    assert found(repository) == [
        "error broken-link src/content/docs/guide/new.md:3 markdown /guide/x/"
    ]


@pytest.mark.parametrize(
    ("config", "is_found"),
    [
        ("plugins: [search, tags: {}]\n", True),
        ("plugins: {search: {}}\n", True),
        ("plugins: [search, site-urls]\n", False),
        ("hooks: [hooks.py]\n", False),
        ("validation: {absolute_links: relative_to_docs}\n", False),
        ("validation: {links: {absolute_links: relative_to_docs}}\n", False),
    ],
)
def test_path_from_the_root_that_mkdocs_publishes_as_it_is_is_broken(
    repository, check, config, is_found
):
    repository.write("mkdocs.yml", f"site_name: x\n{config}")
    repository.write("docs/docs/b.md", "# B\n")
    repository.write("docs/a/a.md", "# A\n\n[b](/docs/b.md) [c](/docs/b/) ![d](/d.png)\n")
    repository.write("docs/d.png", "")
    findings = check(repository).findings
    assert [(f.message, f.hint, f.fix.text) for f in findings] == (
        [
            (
                "/docs/b.md leads nowhere: MkDocs makes no address of it.",
                "Did you mean ../docs/b.md?",
                "../docs/b.md",
            )
        ]
        if is_found
        else []
    )


def test_paths_from_the_root_are_addresses_where_a_site_of_mkdocs_has_many(repository, check):
    repository.write("mkdocs.yml", "site_name: x\n")
    repository.write("docs/a.md", "# A\n\n" + "[b](/b.md)\n" * 21)
    repository.write("docs/b.md", "# B\n")
    assert check(repository).findings == ()


def test_address_from_the_root_below_a_folder_of_mkdocs_is_that_of_a_page(repository, found):
    repository.write("mkdocs.yml", "site_name: x\n")
    repository.write("docs/a.md", "# A\n\n[b](/guide/gone/) [c](/gone/) [d](guide/gone/)\n")
    assert found(repository) == ["error broken-link docs/a.md:3 markdown /guide/gone/"]


def test_languages_of_starlight_in_another_module_stand_in_for_each_other(repository, found):
    repository.write(
        "astro.config.mjs",
        "import starlight from '@astrojs/starlight'\n"
        "import { locales } from './config/locales'\n"
        "export default { integrations: [starlight({ defaultLocale: 'en', locales })] }\n",
    )
    repository.write("src/content/docs/en/guide.md", "# Guide\n")
    repository.write("src/content/docs/en/more.md", "# More\n\n[a](/en/guide/) [b](/en/x/)\n")
    repository.write("src/content/docs/fr/start.md", "# Début\n\n[a](/fr/guide/) [b](/fr/x/)\n")
    assert found(repository) == [
        "error broken-link src/content/docs/en/more.md:3 markdown /en/x/",
        "error broken-link src/content/docs/fr/start.md:3 markdown /fr/x/",
    ]


@pytest.mark.parametrize("name", ["hugo.yaml", "config.yaml"])
def test_hugo_configuration_in_a_folder_of_its_own_is_that_of_the_site_above(
    repository, found, name
):
    repository.write(f"web/config/_default/{name}", "baseURL: https://example.org/\n")
    repository.write("web/content/docs/a.md", "# A\n\n[b](/docs/b/) [c](/docs/c/)\n")
    repository.write("web/content/docs/b.md", "# B\n")
    assert found(repository) == ["error broken-link web/content/docs/a.md:3 markdown /docs/c/"]


def test_folder_of_a_page_of_hugo_is_the_page_itself(repository, found):
    repository.write("hugo.toml", "baseURL = 'https://example.org/'\n")
    text = "# A\n\n## Part\n\n[x](./#part) [y](./#none) [z](../#part)\n"
    repository.write("content/docs/a/b.md", text)
    repository.write("content/docs/a/_index.md", "# Section\n\n## Part\n")
    assert found(repository) == ["warning missing-anchor content/docs/a/b.md:5 markdown ./#none"]


def test_anchors_of_eleventy_are_made_by_plug_ins_of_the_site(repository, found):
    repository.write("eleventy.config.js", "export default () => {}\n")
    text = "# A\n\n## Get JavaScript {% since '2.0' %}\n\n[x](#get-java-script) [y](none.md)\n"
    repository.write("a.md", text)
    assert found(repository) == ["error broken-link a.md:5 markdown none.md"]


def test_relative_alias_of_a_page_of_hugo_begins_in_its_folder(repository, found):
    repository.write("hugo.toml", "baseURL = 'https://example.org/'\n")
    repository.write("content/docs/new/b.md", "---\naliases: [../old/b]\n---\n# B\n")
    repository.write("content/docs/a.md", "# A\n\n[x](/docs/old/b/) [y](/docs/older/b/)\n")
    assert found(repository) == ["error broken-link content/docs/a.md:3 markdown /docs/older/b/"]


def test_anchors_of_hugo_for_blackfriday_have_one_hyphen_between_words(repository, found):
    kind = "[markup.goldmark.parser]\nautoHeadingIDType = 'blackfriday'\n"
    repository.write("hugo.toml", f"baseURL = 'https://example.org/'\n{kind}")
    text = "# A\n\n## Magic & more \u2728\n\n[x](#magic-more) [y](#magic--more-)\n"
    repository.write("content/a.md", text)
    assert found(repository) == ["warning missing-anchor content/a.md:5 markdown #magic--more-"]


def test_link_to_a_folder_whose_name_has_a_dot_is_no_finding(repository, found):
    repository.write("www.example.io/install", "true\n")
    repository.write("README.md", "# A\n\n[x](www.example.io) [y](ww.example.io)\n")
    assert found(repository) == ["error broken-link README.md:3 markdown ww.example.io"]


@pytest.mark.parametrize(
    ("config", "text"),
    [
        ("mkdocs.yml", "site_name: x\nexclude_docs: |\n  drafts/\n  /notes.md\n"),
        (
            "docs/.vitepress/config.ts",
            "export default { title: 'x', srcExclude: ['**/drafts/*.md', 'notes.md'] }\n",
        ),
        (
            "docs/_config.yml",
            "title: x\nexclude: [drafts/, notes.md, index.md]\ninclude: [index.md]\n",
        ),
    ],
)
def test_page_that_its_site_excludes_is_a_page_of_no_site(repository, config, text):
    repository.write(config, text)
    for page in ("index", "notes", "drafts/a", "sub/notes"):
        repository.write(f"docs/{page}.md", "# Page\n")
    repository.commit("Begin")
    with Workspace.open(str(repository.root)) as workspace:
        sites = open_graph(workspace.session.view(Target("HEAD"))).sites
    published = {page: sites.of(f"docs/{page}.md") is not None for page in ("index", "sub/notes")}
    excluded = {page: sites.of(f"docs/{page}.md") for page in ("notes", "drafts/a")}
    assert published == {"index": True, "sub/notes": True}
    assert excluded == {"notes": None, "drafts/a": None}


def test_title_of_a_page_of_starlight_is_its_top(repository, found):
    repository.write(
        "astro.config.mjs",
        "import starlight from '@astrojs/starlight'\n"
        "export default { integrations: [starlight({})] }\n",
    )
    repository.write("src/content/docs/a.md", "---\ntitle: A\n---\n\n[a](#_top)\n\n[b](#_bottom)\n")
    assert found(repository) == ["warning missing-anchor src/content/docs/a.md:7 markdown #_bottom"]


def test_names_with_hyphens_and_spaces_are_found_again_in_a_changed_wiki(repository, found):
    repository.write("_Sidebar.md", "[[New-page one]] [[Set-up guide]]\n")
    repository.write("Set-up-guide.md", "# Install\n")
    repository.commit()
    assert found(repository) == ["error broken-link _Sidebar.md:1 wikilink New-page one"]
    repository.write("New-page-one.md", "# New\n")
    repository.commit()
    assert found(repository) == []
    repository.git("mv", "Set-up-guide.md", "Else.md")
    repository.commit()
    assert found(repository) == ["error broken-link _Sidebar.md:1 wikilink Set-up guide"]


def test_second_configuration_of_mkdocs_describes_a_site_of_its_own(repository):
    repository.write("mkdocs.yml", "site_name: x\n")
    repository.write("mkdocs.blog.yml", "site_name: x\ndocs_dir: blog\n")
    repository.write("mkdocs.insiders.yml", "INHERIT: mkdocs.yml\ndocs_dir: docs\n")
    repository.write("mkdocs-plugin.yml", "name: x\n")
    for page in ("docs/a", "blog/a", "other/a"):
        repository.write(f"{page}.md", "# A\n")
    repository.commit()
    with Workspace.open(str(repository.root)) as workspace:
        sites = open_graph(workspace.session.view(Target("HEAD"))).sites
    pages = ("docs/a.md", "blog/a.md", "other/a.md")
    found = [site.config if (site := sites.of(page)) else None for page in pages]
    assert found == ["mkdocs.yml", "mkdocs.blog.yml", None]
    assert len(sites.sites) == len(found) - 1


@pytest.mark.parametrize(
    ("path", "config"),
    [
        ("mkdocs.yml", "site_name: x\ntheme:\n  name: material\n  custom_dir: theme\n"),
        ("zensical.toml", '[project]\nsite_name = "x"\n[project.theme]\ncustom_dir = "theme"\n'),
    ],
)
def test_files_of_the_site_s_own_theme_are_published_by_mkdocs(repository, found, path, config):
    repository.write(path, config)
    repository.write("theme/assets/logo.svg", "<svg/>\n")
    repository.write("docs/assets/a.svg", "<svg/>\n")
    repository.write("docs/a/b.md", "# B\n\n![a](../assets/logo.svg) ![b](../assets/none.svg)\n")
    repository.commit()

    assert found(repository) == ["error broken-link docs/a/b.md:3 image ../assets/none.svg"]


def test_list_of_tags_has_an_anchor_for_each(repository, found):
    repository.write("mkdocs.yml", "site_name: x\nplugins: [tags]\n")
    repository.write("docs/tags.md", "# Tags\n\n## New\n\n## Old\n")
    repository.write("docs/a.md", "# A\n\n[a](tags.md#tag:pride-month) [b](tags.md#gone)\n")
    repository.write("book/book.toml", "[book]\n")
    repository.write("book/src/SUMMARY.md", "[A](a.md)\n")
    repository.write("book/src/a.md", "# A\n\n[a](#tag:pride-month)\n")
    repository.commit()

    assert found(repository) == [
        "warning missing-anchor book/src/a.md:3 markdown #tag:pride-month",
        "warning missing-anchor docs/a.md:3 markdown tags.md#gone",
    ]


def test_address_is_that_of_the_page_in_its_letter_case_and_not_of_a_readme(repository, found):
    repository.write("_config.yml", "title: x\n")
    for page in ("CONTRIBUTING", "contributing/index", "README", "index"):
        repository.write(f"{page}.md", "---\n---\n# Page\n")
    repository.write("a.md", "---\n---\n# A\n\n[a](/contributing/) [b](/)\n")
    repository.commit()

    assert found(repository, rules=["ambiguous-link"]) == []
    with Workspace.open(str(repository.root)) as workspace:
        graph = open_graph(workspace.session.view(Target("HEAD")))
        targets = {edge.resolution.target for edge in graph.outlinks("a.md")}
    assert targets == {"contributing/index.md", "index.md"}


def test_home_of_an_unknown_site_is_not_the_readme(repository, found):
    repository.write("README.md", "# The site's source\n\n[a](#sponsors)\n")
    repository.write("src/content/a.mdx", "# A\n\n[a](/) [b](/#sponsors) [c](/README.md#set-up)\n")
    repository.commit()
    assert found(repository) == [
        "warning missing-anchor README.md:3 markdown #sponsors",
        "warning missing-anchor src/content/a.mdx:3 markdown /README.md#set-up",
    ]


def test_address_from_which_several_pages_redirect_is_not_ambiguous(repository, found):
    repository.write("_config.yml", "title: x\nplugins: [jekyll-redirect-from]\n")
    for page in ("install/linux", "install/macos"):
        repository.write(f"{page}.md", "---\nredirect_from: [/download/]\n---\n# Page\n")
    repository.write("a.md", "---\n---\n# A\n\n[a](/download/)\n")
    repository.commit()

    assert found(repository) == []


def test_address_of_a_removed_page_is_not_that_of_its_folder(repository, check):
    repository.write("_config.yml", "title: x\n")
    for page in ("install/index", "install/linux/index", "other/index"):
        repository.write(f"{page}.md", "---\n---\n# Page\n")
    repository.write("other/index.html", "<p>Other</p>\n")
    repository.write("a.md", "---\n---\n# A\n\n[a](/install/) [b](/other/)\n")
    repository.commit()
    repository.git("mv", "install/index.md", "install/start.md")
    repository.git("rm", "other/index.md")
    (finding,) = check(repository, staged=True).findings

    assert (finding.subject, finding.related) == ("markdown /install/", "install/start.md")


@pytest.mark.parametrize(
    ("config", "page"),
    [
        ("hugo.toml", "content/blog/_index.md"),
        ("docusaurus.config.js", "docs/blog/index.md"),
    ],
)
def test_address_of_a_folder_may_be_that_of_a_page_that_the_generator_makes(
    repository, check, config, page
):
    repository.write(config, "baseURL = 'https://example.com/'\n" if "hugo" in config else "")
    folder = page.split("/")[0]
    for path in (page, f"{folder}/blog/one.md"):
        repository.write(path, "---\ntitle: x\n---\n# Page\n")
    address = "/blog/" if folder == "content" else "/docs/blog/"
    repository.write(f"{folder}/a.md", f"---\ntitle: a\n---\n# A\n\n[a]({address})\n")
    repository.commit()
    repository.git("rm", page)

    assert check(repository, staged=True).findings == ()


def test_main_configuration_of_mkdocs_is_found_by_either_suffix_and_its_base_is_no_site(repository):
    repository.write("mkdocs.yaml", "INHERIT: mkdocs.base.yml\nsite_name: x\ndocs_dir: src\n")
    repository.write("mkdocs.base.yml", "docs_dir: base\n")
    repository.write("mkdocs.ci.yaml", "site_name: x\ndocs_dir: src\n")
    repository.write("src/a.md", "# A\n")
    repository.commit()
    with Workspace.open(str(repository.root)) as workspace:
        sites = open_graph(workspace.session.view(Target("HEAD"))).sites
    assert [site.config for site in sites.sites] == ["mkdocs.yaml"]


def test_jekyll_excludes_what_begins_with_a_name_and_keeps_what_it_includes(repository):
    config = "title: x\nexclude: ['*.draft.md', old, 'docs*']\ninclude: [docs]\n"
    repository.write("_config.yml", config)
    kept = ["docs/a.md", "a.md", "x/old.md"]
    for path in (*kept, "x/b.draft.md", "old-docs/c.md", "old.md"):
        repository.write(path, "---\n---\n# Page\n")
    repository.commit()
    with Workspace.open(str(repository.root)) as workspace:
        view = workspace.session.view(Target("HEAD"))
        sites = open_graph(view).sites
        found = {path for path in view.document_paths() if sites.of(path)}
    assert found == set(kept)


def test_title_of_a_snippet_of_vitepress_is_not_part_of_its_path(repository, found):
    repository.write("docs/.vitepress/config.mts", "export default { srcDir: 'src' }\n")
    repository.write("docs/src/code/a.java", "class A {}\n")
    repository.write("docs/src/code/[id].ts", "let a\n")
    repository.write(
        "docs/src/sub/a.md",
        "# A\n\n<<< @/code/a.java[Server]\n\n<<< @/code/[id].ts\n\n<<< @/code/b.java[B]\n",
    )
    repository.commit()

    assert found(repository) == ["error broken-link docs/src/sub/a.md:7 include @/code/b.java"]


def test_file_in_the_language_of_its_page_is_not_missing(repository, found):
    repository.write(
        "mkdocs.yml",
        "site_name: x\nplugins:\n  - i18n:\n      languages:\n"
        "        - {locale: en, default: true}\n        - {locale: fr}\n        - {locale: de}\n",
    )
    for path in ("about.fr.md", "sub/only.en.md", "sub/other.de.md"):
        repository.write(f"docs/{path}", "# Page\n")
    repository.write("docs/sub/chinese.zh_CN.md", "# Page\n")
    repository.write("docs/sub/a.zh_CN.md", "# A\n\n[a](chinese.md)\n")
    repository.write("docs/image.en.png", "x\n")
    repository.write(
        "docs/sub/a.fr.md",
        "# A\n\n[a](../about.md) [b](only.md) ![c](../image.png) [d](other.md) ![e](../no.png)\n",
    )
    repository.commit()

    assert found(repository) == [
        "error broken-link docs/sub/a.fr.md:3 markdown other.md",
        "error broken-link docs/sub/a.fr.md:3 image ../no.png",
    ]


@pytest.mark.parametrize(
    ("page", "link", "is_found"),
    [
        ("Foo - Bar.md", "/foo-bar/", True),
        ("Foo - Bar.md", "/foo---bar/", False),
        ("a--b.md", "/a--b/", True),
        ("Two words.md", "/two-words/", True),
    ],
)
def test_address_of_hugo_has_one_hyphen_for_spaces(repository, page, link, is_found):
    repository.write("hugo.toml", "baseURL = 'https://example.com/'\n")
    repository.write(f"content/{page}", "---\ntitle: x\n---\n# Page\n")
    repository.write("content/start.md", f"---\ntitle: s\n---\n# Start\n\n[a]({link})\n")
    repository.commit()
    with Workspace.open(str(repository.root)) as workspace:
        graph = open_graph(workspace.session.view(Target("HEAD")))
        targets = {edge.resolution.target for edge in graph.outlinks("content/start.md")}
    assert targets == ({f"content/{page}"} if is_found else {None})
