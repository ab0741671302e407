"""The table of site generators: how each is configured, and how it makes anchors of headings.

A new generator is a row of `GENERATORS`, with a function that reads its configuration and one that
yields the anchors of a page's headings.
"""

import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from fnmatch import fnmatch
from itertools import islice
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from ubp.core.model import FilePath
from ubp.core.text import slug
from ubp.markdown.sites.anchors import TERM, HeadingName, github_slugs, github_text
from ubp.markdown.sites.literals import (
    block_after,
    block_at,
    number_after,
    object_around,
    object_with,
    own_string,
    pairs_in,
    string_after,
    strings_in,
    without_comments,
    without_nested,
)
from ubp.markdown.sites.site import (
    OTHER_LABELS,
    OTHER_PAGES,
    OWN_ANCHORS,
    OWN_HOOKS,
    ROOT_LANGUAGE,
    SLUGS_LINKS,
    Root,
    Site,
    Style,
    join,
)
from ubp.markdown.yaml_nodes import BadYamlError, Node, read_yaml

MAX_CONFIG_BYTES = 256 * 1024
MAX_NAVIGATION = 10_000
MAX_EXCLUDED = 200  # patterns
MAX_INSTANCES = 50  # of a plug-in, each of which is looked for in the whole configuration

Configs = Mapping[FilePath, bytes]
"""The contents of the configuration files of a snapshot, of all generators."""


class Generator(NamedTuple):
    """A row of the table.

    `configs` is a pattern of the paths of its configuration files, up to the folder of the site.
    `read` returns the site in a folder, None if the file configures something else. `anchors`
    yields the anchors of headings, in order, given the site's options; `slugs` names their rule.
    """

    style: Style
    configs: str
    read: Callable[[FilePath, FilePath, Configs], Site | None]
    anchors: Callable[[Sequence[HeadingName], Site], Iterator[str]]
    slugs: str


# MkDocs


def _read_mkdocs(folder: FilePath, path: FilePath, configs: Configs) -> Site | None:
    settings, parent_folder = _read_yaml(configs[path]), folder
    if not _is_own_mkdocs(settings, folder, path, configs):
        return None
    parent = _text(settings, "INHERIT")
    parent_path = join(folder, parent) if parent else None
    if parent_path and parent_path in configs and parent_path != path:
        settings += _read_yaml(configs[parent_path])
        parent_folder = FilePath(parent_path.rpartition("/")[0])
    docs = (_text(settings, "docs_dir") or "docs").strip("/")
    root = Root(join(folder, docs) or folder)
    own, default = folder.rpartition("/")[2], parent_folder.rpartition("/")[2]
    outer = parent_folder.rpartition("/")[0]
    if re.fullmatch(_LANGUAGE, default) and folder.rpartition("/")[0] == outer and "/" not in docs:
        root = Root(f"{outer}/{{lang}}/{docs}".lstrip("/"), "{lang}", default)
        if own != default:  # its languages are those of the configuration that it inherits from
            return None
    structure, language = _mkdocs_languages(settings)
    if structure == "folder" and language:
        root = Root(f"{root.folder}/{{lang}}", "{lang}", language)
    nav = _value(settings, "nav")
    pages = (join(root.folder, text) for text in _scalars(nav) if text.endswith(".md"))
    toc = _mkdocs_extension(settings, "toc")
    slugify = toc and _get(toc, "slugify")
    function = _mkdocs_slugify(slugify) if slugify else ""
    options = {
        OWN_ANCHORS: "yes" if function not in _MKDOCS_SLUGIFY else "",
        "separator": _scalar(_get(toc, "separator")) if toc else "",
        "slugify": function,
        "case": _scalar(_get(_get(slugify, "kwds"), "case")) if slugify else "",
        OWN_HOOKS: "yes" if _value(settings, "hooks") else "",
        "attributes": "yes" if "attr_list" in _extension_names(settings) else "",
        "emoji": "yes" if not _MKDOCS_EMOJI.isdisjoint(_extension_names(settings)) else "",
    }
    makes_folders = _text(settings, "use_directory_urls").lower() != "false"
    return Site(
        MKDOCS._replace(is_pretty=makes_folders),
        folder,
        (root,),
        static=_theme_files(folder, _scalar(_get(_value(settings, "theme"), "custom_dir"))),
        base=urlsplit(_text(settings, "site_url")).path,
        navigation=tuple(page for page in pages if page)[:MAX_NAVIGATION] if nav else None,
        options=tuple(item for item in options.items() if item[1]),
        excluded=tuple(_mkdocs_excluded(_text(settings, "exclude_docs"), join(folder, docs) or "")),
        pieces=tuple(_mkdocs_pieces(settings, folder)),
        keeps_paths=_mkdocs_keeps_paths(settings),
        suffix_language=language if structure == "suffix" else "",
    )


def _is_own_mkdocs(
    settings: Sequence[Node], folder: FilePath, path: FilePath, configs: Configs
) -> bool:
    """Return whether a file describes a site of its own, not a variant of the one beside it."""
    if _is_main_mkdocs(path):
        return True
    docs = _text(settings, "docs_dir").strip("/")
    if not docs:
        return False
    beside = (name for name in configs if name.rpartition("/")[0] == folder)
    mains = [_read_yaml(configs[name]) for name in beside if _is_main_mkdocs(name)]
    if any(join(folder, _text(main, "INHERIT")) == path for main in mains):
        return False
    used = {join(folder, _text(main, "docs_dir").strip("/") or "docs") for main in mains}
    return join(folder, docs) not in (used or {join(folder, "docs")})


def _is_main_mkdocs(path: FilePath) -> bool:
    return re.fullmatch(_MKDOCS_NAME, path.rpartition("/")[2]) is not None


def _read_mkdocs_or_zensical(folder: FilePath, path: FilePath, configs: Configs) -> Site | None:
    read = _read_zensical if path.endswith(".toml") else _read_mkdocs
    return read(folder, path, configs)


def _read_zensical(folder: FilePath, path: FilePath, configs: Configs) -> Site | None:
    """Return the site of Zensical, which has MkDocs' settings in TOML."""
    project = _dig(_read_settings(path, configs[path]), "project")
    if not isinstance(project, dict):
        return None
    root = Root(join(folder, str(project.get("docs_dir") or "docs").strip("/")) or folder)
    extensions = project.get("markdown_extensions")
    slugify = _dig(extensions, "toc", "slugify")
    function = str(_dig(slugify, "object") or slugify or "").rpartition(".")[2]
    options = {
        OWN_ANCHORS: "yes" if function not in _MKDOCS_SLUGIFY else "",
        "separator": str(_dig(extensions, "toc", "separator") or ""),
        "slugify": function,
        "case": str(_dig(slugify, "kwds", "case") or ""),
        # Zensical enables both where no extension is configured.
        "attributes": "yes" if extensions is None or "attr_list" in extensions else "",
        "emoji": "yes" if extensions is None or _has_emoji(extensions) else "",
    }
    pages = (join(root.folder, text) for text in _strings_of(project.get("nav")))
    return Site(
        MKDOCS._replace(is_pretty=project.get("use_directory_urls") is not False),
        folder,
        (root,),
        static=_theme_files(folder, str(_dig(project, "theme", "custom_dir") or "")),
        base=urlsplit(str(project.get("site_url") or "")).path,
        navigation=tuple(page for page in pages if page and page.endswith(".md"))[:MAX_NAVIGATION]
        or None,
        options=tuple(item for item in options.items() if item[1]),
    )


def _has_emoji(extensions: Any) -> bool:
    return _dig(extensions, "pymdownx", "emoji") is not None  # the table may be empty


def _theme_files(folder: FilePath, written: str) -> tuple[FilePath, ...]:
    """Return the folder of the site's own changes to its theme, whose files MkDocs publishes."""
    theme = join(folder, written) if written else None
    return (theme,) if theme else ()


def _strings_of(value: Any) -> Iterator[str]:
    """Yield the strings in nested lists and mappings."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict | list):
        for item in value.values() if isinstance(value, dict) else value:
            yield from _strings_of(item)


def _mkdocs_excluded(written: str, folder: str) -> Iterator[str]:
    """Yield the globs of what `exclude_docs` lists, in the format of a `.gitignore`."""
    for line in written.splitlines()[:MAX_EXCLUDED]:
        pattern = line.strip()
        if not pattern or pattern[0] in "#!":
            continue
        name = pattern.rstrip("/")
        anywhere = "" if "/" in name else "**/"
        glob = f"{folder}/{anywhere}{name.lstrip('/')}".lstrip("/")
        yield from ([] if pattern.endswith("/") else [glob])
        yield f"{glob}/**"


def _mkdocs_languages(settings: Sequence[Node]) -> tuple[str, str]:
    """Return where languages are, in a "folder" or a "suffix", and the default one.

    Both are "" without mkdocs-static-i18n.
    """
    plugins = _value(settings, "plugins")
    found = [_get(plugins, "i18n"), *(_get(plugin, "i18n") for plugin in _items(plugins))]
    i18n = next((plugin for plugin in found if plugin is not None), None)
    if i18n is None:
        return "", ""
    structure = _scalar(_get(i18n, "docs_structure")) or "suffix"
    for language in _items(_get(i18n, "languages")):
        if _scalar(_get(language, "default")) == "true":
            return structure, _scalar(_get(language, "locale"))
    return structure, _scalar(_get(i18n, "default_language"))


def _names_in(plugins: Node | None) -> list[str]:
    """Return the names in a list, or among the keys, of plug-ins that may have settings."""
    if plugins is None:
        return []
    names = [key.value for key, _ in plugins.pairs]
    for item in plugins.items:
        names += [item.value] if item.kind == "scalar" else [key.value for key, _ in item.pairs]
    return names


def _extension_names(settings: Sequence[Node]) -> list[str]:
    names = _names_in(_value(settings, "markdown_extensions"))
    return [name.rpartition(".")[2] if "markdown.ext" in name else name for name in names]


# Plug-ins of MkDocs that do not rewrite links.
_MKDOCS_PLUGINS_WITHOUT_LINKS = frozenset(
    {
        "autorefs",
        "awesome-nav",
        "awesome-pages",
        "git-authors",
        "git-committers",
        "git-committers-2",
        "git-revision-date",
        "git-revision-date-localized",
        "glightbox",
        "group",
        "literate-nav",
        "meta",
        "minify",
        "mkdocstrings",
        "offline",
        "privacy",
        "redirects",
        "rss",
        "search",
        "section-index",
        "social",
        "tags",
        "typeset",
    }
)


def _mkdocs_extension(settings: Sequence[Node], name: str) -> Node | None:
    """Return the settings of an extension, None where it has none."""
    extensions = _value(settings, "markdown_extensions")
    found = [_get(extensions, name), *(_get(item, name) for item in _items(extensions))]
    return next((extension for extension in found if extension is not None), None)


def _mkdocs_keeps_paths(settings: Sequence[Node]) -> bool:
    """Return whether no setting, hook or plug-in makes addresses of paths from the root."""
    validation = _value(settings, "validation")
    written = (_get(node, "absolute_links") for node in (validation, _get(validation, "links")))
    if any(node and node.value == "relative_to_docs" for node in written):
        return False
    names = {name.rpartition("/")[2] for name in _names_in(_value(settings, "plugins"))}
    return not _value(settings, "hooks") and names <= _MKDOCS_PLUGINS_WITHOUT_LINKS


def _mkdocs_pieces(settings: Sequence[Node], folder: FilePath) -> Iterator[FilePath]:
    """Yield the folders of what pages include."""
    for name in ("pymdownx.snippets", "markdown_include.include"):
        for path in _scalars(_get(_mkdocs_extension(settings, name), "base_path")):
            if pieces := join(folder, path):
                yield pieces


def _mkdocs_slugify(value: Node) -> str:
    """Return the name of the slug function, from a tag such as `!!python/name:pkg.function`."""
    written = value.tag or value.value
    return re.split(r"[:.]", written)[-1] if written else ""


def _mkdocs_anchors(headings: Sequence[HeadingName], site: Site) -> Iterator[str]:
    separator = site.option("separator") or "-"
    has_attributes = bool(site.option("attributes")) or (not site.folder and not site.roots)
    used = {heading.id for heading in headings if heading.id and has_attributes}
    yield from used
    later: dict[str, str] = {}  # names between are used: a page may have 10,000 equal headings
    for heading in _markdown_headings(headings):
        if heading.id and has_attributes:
            continue
        text = github_text(heading)  # without the extension, `{#id}` is a part of the text
        if site.option("emoji"):  # icons and emoji are images
            text = re.sub(_EMOJI_NAME, "", text)
        name = _mkdocs_slug(text, separator, site)
        passed = []
        while name in used or not name:
            passed.append(name)
            match = re.match(_COUNTED, name)
            next_name = f"{match[1]}_{int(match[2]) + 1}" if match else f"{name}_1"
            name = later.get(name, next_name)
        later.update(dict.fromkeys(passed, name))
        used.add(name)
        yield name


def _mkdocs_slug(text: str, separator: str, site: Site) -> str:
    name = " ".join(text.split())
    match site.option("slugify"):
        case "slugify" | "uslugify" | "slugify_unicode" | "gfm" | "uslugify_cased" as function:
            if function == "slugify_unicode":
                return _python_markdown_slug(name, separator)
            case_option = "lower" if function in {"uslugify", "gfm"} else site.option("case")
            name = unicodedata.normalize("NFC", name)
            name = name.casefold() if case_option == "fold" else name
            name = name.lower() if case_option in {"lower", "lower-ascii"} else name
            return re.sub(r"[^\w\- ]", "", name).strip().replace(" ", separator)
        case "":
            return _python_markdown_slug(
                unicodedata.normalize("NFKD", name).encode("ascii", "ignore").decode(), separator
            )
        case _:
            return _python_markdown_slug(name, separator)


def _python_markdown_slug(text: str, separator: str) -> str:
    kept = re.sub(r"[^\w\s-]", "", text).strip().lower()
    return re.sub(rf"[{re.escape(separator)}\s]+", separator, kept)


# VitePress (and VuePress 2)


def _read_vitepress(folder: FilePath, path: FilePath, configs: Configs) -> Site | None:
    home = f"{folder}/.vitepress/".lstrip("/")
    parts = [path, *sorted(other for other in configs if other.startswith(home) and other != path)]
    text = without_comments("\n".join(_decode(configs[part]) for part in parts))
    main = object_with(text, _VITEPRESS_KEYS) or text
    source = join(folder, own_string(text, main, "srcDir") or "") or folder
    pages = [join(source, link) for link in _menu_links(text)]
    sets_anchors = re.search(r"(?<![\w.$])(?:slugify|leftDelimiter)\b", text)
    has_own_anchors = sets_anchors or _extends_another(without_comments(_decode(configs[path])))
    slugs_links = _vitepress_version(folder, configs) != "1"
    options = {OWN_ANCHORS: has_own_anchors, SLUGS_LINKS: slugs_links}
    return Site(
        VITEPRESS,
        folder,
        (Root(source),),
        static=(FilePath(f"{source}/public".lstrip("/")),),
        base=own_string(text, main, "base") or "",
        navigation=tuple(page for page in pages if page)[:MAX_NAVIGATION] or None,
        options=tuple((name, "yes") for name, is_set in options.items() if is_set),
        rewrites=pairs_in(block_after(main, "rewrites")),
        excluded=tuple(
            f"{source}/{pattern.removeprefix('./')}".lstrip("/")
            for pattern in strings_in(block_after(main, "srcExclude"))[:MAX_EXCLUDED]
        ),
    )


def _extends_another(text: str) -> bool:
    """Return whether a configuration of VitePress extends that of another package.

    `defineConfig` may be the other package's, or its settings are under `extends` or spread.
    """
    imported = re.findall(_PACKAGE_IMPORT, text)
    names = {name for names in imported for name in re.findall(r"[\w$]+", names)}
    main = without_nested(object_with(text, f"extends|{_VITEPRESS_KEYS}"))
    spread = re.findall(r"\.\.\.\s*([\w$]+)", main)
    is_extended = re.search(r"(?<![\w.$])extends\s*:", main)
    return "defineConfig" in names or is_extended is not None or not names.isdisjoint(spread)


def _menu_links(text: str) -> Iterator[str]:
    """Yield the addresses from the root that a configuration gives as `link`."""
    for link in re.findall(r"(?<![\w.$])link\s*:\s*(\"[^\"\n]*\"|'[^'\n]*'|`[^`$]*`)", text):
        if link[1:2] == "/":
            yield link[1:-1]


def _vitepress_version(folder: FilePath, configs: Configs) -> str:
    """Return the major version that the nearest package of a site requires; "": none says so."""
    packages = (configs.get(path, b"") for path in packages_above(folder))
    required = next(filter(None, (re.search(_VITEPRESS, data) for data in packages)), None)
    return required["major"].decode() if required else ""


def packages_above(folder: str) -> Iterator[FilePath]:
    """Yield the paths at which a package with a folder may have its manifest, the nearest first."""
    parts = folder.split("/") if folder else []
    for count in range(len(parts), -1, -1):
        yield FilePath("/".join([*parts[:count], "package.json"]))


def _vitepress_anchors(headings: Sequence[HeadingName], _: Site) -> Iterator[str]:
    return _numbered(_markdown_headings(headings), _vitepress_slug)


def _vitepress_slug(heading: HeadingName) -> str:
    text = re.sub(_EMOJI_NAME, "", heading.with_descriptions)
    text = re.sub(r"[\u0300-\u036f\x00-\x1f]", "", unicodedata.normalize("NFKD", text))
    name = re.sub(r"-{2,}", "-", re.sub(_VITEPRESS_SEPARATORS, "-", text)).strip("-")
    return re.sub(r"^(\d)", r"_\1", name).lower()


# Docusaurus


def _read_docusaurus(folder: FilePath, path: FilePath, configs: Configs) -> Site | None:
    text = without_comments(_decode(configs[path]))
    instances = re.finditer(r"plugin-content-docs['\"`]\s*,\s*(?=\{)", text)
    routes = re.finditer(r"(?<![\w.$])routeBasePath\s*:", text)
    presets = block_after(text, "presets")  # the theme has settings of these names, too
    settings = presets if re.search(r"(?<![\w.$])docs\s*:", presets) else text
    blog = block_after(settings, "blog")
    preset = re.search(r"(?<![\w.$])docs\s*:\s*(?=\{)", settings)
    plugins = [
        block_at(settings, preset.end()) if preset else "",
        *(block_at(text, match.end()) for match in instances),
    ]
    # what a list of instances is made into plug-ins from
    plugins += (object_around(text, match.start()) for match in islice(routes, MAX_INSTANCES))
    roots: dict[str, Root] = {}
    for number, options in enumerate(plugins):
        pages = own_string(text, options, "path")
        if number and (not pages or options == blog):
            continue
        docs = join(folder, pages or "docs") or folder
        for root in _docusaurus_roots(folder, docs, options, configs, is_default=not number):
            roots.setdefault(root.folder, root)
    blog_folder = join(folder, string_after(blog, "path") or "blog") or folder
    blog_url = (string_after(blog, "routeBasePath") or "blog").strip("/")
    for root in (Root(blog_folder, blog_url), Root(f"{folder}/src/pages".lstrip("/"))):
        roots.setdefault(root.folder, root)
    static = strings_in(block_after(text, "staticDirectories")) or ["static"]
    return Site(
        DOCUSAURUS,
        folder,
        tuple(roots.values()),
        static=tuple(filter(None, (join(folder, name) for name in static))),
        base=string_after(text, "baseUrl") or "",
    )


def _docusaurus_roots(
    folder: FilePath, docs: str, options: str, configs: Configs, *, is_default: bool
) -> Iterator[Root]:
    """Yield the folders of an instance of the docs plug-in: of its versions and translations."""
    route = own_string("", options, "routeBasePath")
    url = ("docs" if route is None else route).strip("/")
    name = "" if is_default else own_string("", options, "id") or ""
    prefix = f"{name}_" if name and name != "default" else ""
    file = FilePath(f"{folder}/{prefix}versions.json".lstrip("/"))
    versions = ["current", *_json_strings(configs.get(file, b""))]
    last = own_string("", options, "lastVersion") or versions[min(1, len(versions) - 1)]
    settings = block_after(options, "versions")
    plugin = "docusaurus-plugin-content-docs" + (f"-{prefix[:-1]}" if prefix else "")
    for version in sorted(versions, key=lambda version: version != last):
        own = block_after(settings, version) if settings else ""
        part = "next" if version == "current" else version
        part = string_after(own, "path") or ("" if version == last else part)
        address = f"{url}/{part}".strip("/")
        pages = f"{folder}/{prefix}versioned_docs/version-{version}".lstrip("/")
        yield Root(docs if version == "current" else pages, address)
        copy = "current" if version == "current" else f"version-{version}"
        translated = f"{folder}/i18n/{{lang}}/{plugin}/{copy}".lstrip("/")
        default = docs if version == "current" else pages
        yield Root(translated, f"{{lang}}/{address}", default)


def _docusaurus_anchors(headings: Sequence[HeadingName], _: Site) -> Iterator[str]:
    yield from (heading.id for heading in headings if heading.id)
    texts = (
        heading.with_descriptions for heading in _markdown_headings(headings) if not heading.id
    )
    yield from github_slugs(texts)


# Hugo


def _read_hugo_or_zola(folder: FilePath, path: FilePath, configs: Configs) -> Site | None:
    """Read a file whose name both have; only Zola's key for the address has an underscore."""
    if folder == _HUGO_CONFIGS or folder.endswith(f"/{_HUGO_CONFIGS}"):
        folder = FilePath(folder.removesuffix(_HUGO_CONFIGS).rstrip("/"))
    if path.endswith("config.toml") and re.search(rb"(?m)^\s*base_url\s*=", configs[path]):
        settings = _read_settings(path, configs[path])
        return None if settings is None else _read_zola(folder, settings)
    return _read_hugo(folder, path, configs)


def _read_hugo(folder: FilePath, path: FilePath, configs: Configs) -> Site | None:
    is_old_name = not re.search(r"(?:^|/)hugo\.\w+$", path)
    if is_old_name and not re.search(_HAS_HUGO_KEY, configs[path]):
        return None  # most files of that name configure another program: do not parse them
    settings = _read_settings(path, configs[path])
    if settings is None or (is_old_name and not settings.keys() & _HUGO_KEYS):
        return None
    settings = _merged(_hugo_parts(path, configs), settings)
    default = str(settings.get("defaultcontentlanguage", "en"))
    content = join(folder, str(settings.get("contentdir", "content"))) or folder
    roots = list(_hugo_languages(folder, content, default, settings.get("languages")))
    static = list(_hugo_static(folder, settings))
    has_other_paths = False  # of pages that lie elsewhere than they are published
    for source, target, language in _hugo_mounts(folder, settings, default):
        if target.split("/", maxsplit=1)[0] == "content":
            url = target.partition("/")[2]
            has_other_paths = has_other_paths or bool(url)
            url = url if language == default else f"{language}/{url}"
            roots.append(Root(source, url, language))
        elif target == "static":
            static.append(source)
    if not roots:
        roots = [Root(content), Root(f"{content}/{{lang}}", "{lang}", default)]
    roots.sort(key=lambda root: root.url)
    markup = settings.get("markup", {})
    parser = _dig(markup, "goldmark", "parser")
    kinds = {
        "slugs": _dig(parser, "autoheadingidtype"),
        "terms": _dig(parser, "autodefinitiontermid"),
    }
    has_own_links = any(
        re.fullmatch(_HUGO_LINK_HOOK, p.removeprefix(f"{folder}/")) for p in configs
    )
    keeps_case = str(settings.get("disablepathtolower", "")).lower() == "true"
    languages = settings.get("languages")
    is_multilingual = isinstance(languages, dict) and len(languages) > 1
    style = HUGO._replace(
        ignores_case=not keeps_case,
        resolves_paths=is_multilingual or has_other_paths,
        makes_addresses=has_other_paths,
    )
    return Site(
        style._replace(verifies="files", makes_addresses=True) if has_own_links else style,
        folder,
        tuple(roots),
        static=tuple(static),
        base=_hugo_base(settings, path, configs),
        options=tuple((name, str(value)) for name, value in kinds.items() if value),
    )


def _hugo_parts(path: FilePath, configs: Configs) -> dict[str, Any]:
    """Return the settings that have files of their own beside the main one (`languages.toml`)."""
    parts: dict[str, Any] = {}
    home = path.rpartition("/")[0]
    for other in sorted(configs) if home.endswith(_HUGO_CONFIGS) else ():
        match = re.fullmatch(rf"{re.escape(home)}/{_HUGO_PART}", other)
        settings = _read_settings(other, configs[other]) if match else None
        if match and settings:
            own = {match["language"]: settings} if match["language"] else settings
            parts = _merged(parts, {match["name"]: own})
    return parts


def _merged(settings: Mapping[str, Any], more: Mapping[str, Any]) -> dict[str, Any]:
    """Return settings with more of them, which win; two tables of a name are joined."""
    joined = {
        name: {**settings[name], **value}
        for name, value in more.items()
        if isinstance(value, dict) and isinstance(settings.get(name), dict)
    }
    return {**settings, **more, **joined}


def _hugo_mounts(
    folder: FilePath, settings: Mapping[str, Any], default: str
) -> Iterator[tuple[FilePath, str, str]]:
    """Yield the folders that a site mounts: their source, target and language.

    That is the default one if it is among several. The mount of a single file has its suffix.
    """
    mounts = _dig(settings, "module", "mounts")
    for mount in mounts if isinstance(mounts, list) else ():
        source = join(folder, str(_dig(mount, "source") or ""))
        target = str(_dig(mount, "target") or "").strip("/")
        if not source or (re.search(_HUGO_FILE, source) and re.search(_HUGO_FILE, target)):
            continue
        named = _one_or_more(_dig(mount, "sites", "matrix", "languages") or _dig(mount, "lang"))
        plain = [name for name in named if not re.search(r"[*?\[{]", name)]
        has_default = not plain or any(fnmatch(default, name) for name in named)
        yield source, target, default if has_default else plain[0]


def _hugo_static(folder: FilePath, settings: Mapping[str, Any]) -> Iterator[FilePath]:
    """Yield the folders of files that a site publishes, and those of themes beside it."""
    themes = str(settings.get("themesdir", "themes"))
    names = [f"{themes}/{name}/static" for name in _one_or_more(settings.get("theme"))]
    for name in [*(_one_or_more(settings.get("staticdir")) or ["static"]), *names]:
        if static := join(folder, name):
            yield static


def _one_or_more(value: object) -> list[str]:
    """Return the texts of a setting that is a text or a list."""
    values = value if isinstance(value, list) else [value]
    return [text for text in values if isinstance(text, str)]


def _hugo_base(settings: Mapping[str, Any], path: FilePath, configs: Configs) -> str:
    """Return the path of a site's address, as it is built for production."""
    production = FilePath(path.replace(f"{_HUGO_CONFIGS}/", "config/production/"))
    own = _read_settings(production, configs.get(production, b"")) or {}
    return urlsplit(str(own.get("baseurl") or settings.get("baseurl", ""))).path


def _hugo_languages(
    folder: FilePath, content: FilePath, default: str, languages: object
) -> Iterator[Root]:
    """Yield the folders of languages, if any has its own; `content` is that of the others."""
    named = languages if isinstance(languages, dict) else {}
    folders = {
        str(name): language["contentdir"]
        for name, language in named.items()
        if isinstance(language, dict) and isinstance(language.get("contentdir"), str)
    }
    if folders and default not in folders:
        yield Root(content, "", default)
    for name, own in folders.items():
        yield Root(join(folder, own) or folder, "" if name == default else name, name)


def _read_zola(folder: FilePath, settings: Mapping[str, Any]) -> Site:
    content = join(folder, "content") or folder
    static = (FilePath(f"{folder}/static".lstrip("/")),)
    base = urlsplit(str(settings.get("base_url", ""))).path
    return Site(ZOLA, folder, (Root(content),), static=static, base=base)


def _hugo_anchors(headings: Sequence[HeadingName], site: Site) -> Iterator[str]:
    ascii_only = site.option("slugs") == "github-ascii"

    def slug_of(text: str) -> str:
        text = text.strip().replace("\n", " ")
        if site.option("slugs") == "blackfriday":
            parts = re.split(r"[\W_]+", text)  # what is between words becomes one hyphen
            return "-".join(filter(None, parts)).lower() or "heading"
        if ascii_only:
            text = unicodedata.normalize("NFKD", text).encode("ascii", "ignore").decode()
        kept = (c for c in text if c in "-_ " or unicodedata.category(c)[0] == "L" or c.isdecimal())
        return "".join(kept).replace(" ", "-").lower() or "heading"

    has_terms = not site.roots or site.option("terms") == "True"
    named = headings if has_terms else _markdown_headings(headings)
    yield from _numbered(
        (heading for heading in named if heading.level), lambda heading: slug_of(heading.text)
    )
    # before version 0.144, the targets of links and images were part of the text
    yield from (slug_of(text) for heading in headings for text in heading[2:4] if text)


# mdBook


def _read_mdbook(folder: FilePath, path: FilePath, configs: Configs) -> Site | None:
    settings = _read_settings(path, configs[path]) or {}
    source = str(_dig(settings, "book", "src") or "src")
    return Site(MDBOOK, folder, (Root(join(folder, source) or folder),), navigation=())


def _mdbook_anchors(headings: Sequence[HeadingName], _: Site) -> Iterator[str]:
    def slug_of(heading: HeadingName) -> str:
        text = heading.text.strip().lower()
        kept = (c if c.isalnum() or c in "_-" else "-" * c.isspace() for c in text)
        return "".join(kept) or "section"

    return _numbered((heading for heading in headings if heading.level), slug_of)


# Jekyll and Hexo


def _read_jekyll_or_hexo(folder: FilePath, path: FilePath, configs: Configs) -> Site | None:
    """Read a file whose name both have; a site of Hexo is a package that requires it."""
    outer, _, name = folder.rpartition("/")
    if name and f"/{outer}".endswith("/themes"):
        parent = FilePath(f"{outer.removesuffix('themes')}_config.yml")
        if parent in configs:
            return None  # settings of a theme
    package = configs.get(FilePath(f"{folder}/package.json".lstrip("/")), b"")
    read = _read_hexo if re.search(_HEXO, package) else _read_jekyll
    return read(folder, path, configs)


def _read_jekyll(folder: FilePath, path: FilePath, configs: Configs) -> Site | None:
    settings = _read_yaml(configs[path])
    source = join(folder, _text(settings, "source")) or folder
    base = _text(settings, "baseurl")
    # paths in `{% link %}` are those in the site, without this folder
    collections = join(source, _text(settings, "collections_dir"))
    pieces = (collections,) if collections and collections != source else ()
    excluded = tuple(_jekyll_excluded(settings, source))[: 2 * MAX_EXCLUDED]
    return Site(
        JEKYLL,
        folder,
        (Root(source),),
        static=(source,),
        base=base,
        excluded=excluded,
        pieces=pieces,
    )


def _jekyll_excluded(settings: Sequence[Node], source: FilePath) -> Iterator[str]:
    """Yield the globs of what `exclude` lists, unless `include` does.

    What begins with one of its names is excluded, too, and a star stands for folders as well.
    """
    kept = [*_scalars(_value(settings, "include"))]
    for name in _scalars(_value(settings, "exclude")):
        path = join(source, re.sub(r"(?<![^/])\*+", "**/*", name))
        if path and not any(fnmatch(text, name) for text in kept):
            yield from (f"{path}*", f"{path}*/**")


def _jekyll_anchors(headings: Sequence[HeadingName], _: Site) -> Iterator[str]:
    yield from (heading.id for heading in headings if heading.id)
    counts: dict[str, int] = {}
    for heading in _markdown_headings(headings):
        if not heading.id and not heading.id_below and (name := slug(heading.text)):
            counts[name] = counts.get(name, -1) + 1
            yield f"{name}-{counts[name]}" if counts[name] else name


def _read_hexo(folder: FilePath, path: FilePath, configs: Configs) -> Site | None:
    settings = _read_yaml(configs[path])
    source = join(folder, _text(settings, "source_dir") or "source") or folder
    package = configs[FilePath(f"{folder}/package.json".lstrip("/"))]
    case = _scalar(_get(_value(settings, "marked"), "modifyAnchors"))
    return Site(
        HEXO._replace(knows_anchors=b'"hexo-renderer-marked"' in package),
        folder,
        (Root(source),),
        static=(source,),
        base=_text(settings, "root"),
        options=(("case", case),) if case else (),
    )


def _hexo_anchors(headings: Sequence[HeadingName], site: Site) -> Iterator[str]:
    """Yield the anchors of hexo-renderer-marked, without typographic quotes and with them."""
    change = {"1": str.lower, "2": str.upper}.get(site.option("case"), str)
    named = [heading._replace(id="") for heading in _markdown_headings(headings)]
    yield from _numbered(named, lambda heading: change(_hexo_slug(heading.text)))
    yield from _numbered(named, lambda heading: change(_hexo_slug(_typographic(heading.text))))


def _hexo_slug(text: str) -> str:
    plain = (
        base if (base := unicodedata.normalize("NFD", letter)[:1]).isascii() else letter
        for letter in unicodedata.normalize("NFC", text).translate(_PLAIN_LETTERS)
    )
    return re.sub(_HEXO_SEPARATORS, "-", "".join(plain)).strip("-")


def _typographic(text: str) -> str:
    """Return a text with the dashes, quotes and ellipses that marked's `smartypants` makes."""
    for pattern, sign in _TYPOGRAPHIC:
        text = re.sub(pattern, sign, text)
    return text


# Sphinx with MyST


def _read_sphinx(folder: FilePath, path: FilePath, configs: Configs) -> Site | None:
    text = _decode(configs[path])
    if not re.search(r"^extensions\s*=|^html_theme\s*=|myst_parser", text, re.MULTILINE):
        return None
    depth = number_after(text, "myst_heading_anchors")
    own = string_after(text, "myst_heading_slug_func")
    options = {"depth": str(depth or 0), "slugs": own or ""}
    code = re.sub(r"(?m)^\s*#.*", "", text)
    options |= {OTHER_LABELS: "yes"} if re.search(_SPHINX_LABELS, code) else {}
    options |= {OTHER_PAGES: "yes"} if re.search(_SPHINX_PAGES, code) else {}
    return Site(SPHINX, folder, (Root(folder),), options=tuple(options.items()))


def _sphinx_anchors(headings: Sequence[HeadingName], site: Site) -> Iterator[str]:
    yield from (heading.id for heading in headings if heading.id)
    depth = int(site.option("depth") or 0)
    used: set[str] = set()
    numbers: dict[str, int] = {}
    for heading in _markdown_headings(headings):
        if not site.options or heading.level <= depth:
            text = heading.text
            if "docutils" in site.option("slugs") or "make_id" in site.option("slugs"):
                name = _docutils_id(text)
            else:
                name = re.sub(r"[^\w\u4e00-\u9fff\- ]", "", text.lower().replace(" ", "-"))
            number, numbered = numbers.get(name, 1), name
            while numbered in used:
                numbered, number = f"{name}-{number}", number + 1
            numbers[name] = number
            used.add(numbered)
            yield numbered


def _docutils_id(text: str) -> str:
    ascii_text = unicodedata.normalize("NFKD", text.lower()).encode("ascii", "ignore").decode()
    return re.sub(r"^[-0-9]+|-+$", "", re.sub(r"[^a-z0-9]+", "-", " ".join(ascii_text.split())))


# Starlight and Nextra


def _nextra_anchors(headings: Sequence[HeadingName], site: Site) -> Iterator[str]:
    own = ((heading, re.search(r"\s*\[#([^\s\[\]]+)\]$", heading.text)) for heading in headings)
    named = [heading._replace(id=match[1]) if match else heading for heading, match in own]
    yield from _docusaurus_anchors(named, site)


def _starlight_anchors(headings: Sequence[HeadingName], site: Site) -> Iterator[str]:
    yield "_top"  # the title of each page
    yield from _docusaurus_anchors(headings, site)


def _read_starlight(folder: FilePath, path: FilePath, configs: Configs) -> Site | None:
    text = without_comments(_decode(configs[path]))
    if "starlight" not in text:
        return None
    main = object_with(text, "integrations|site|base") or text
    content = f"{folder}/src/content/docs".lstrip("/")
    roots = [Root(content)]
    languages = re.findall(r"[\"']?([\w-]+)[\"']?\s*:\s*\{", block_after(text, "locales"))
    default = string_after(main, "defaultLocale")
    # languages of another module are those of the folders
    if languages or (default and re.search(r"\blocales\b", main)):
        default = ROOT_LANGUAGE if not default or ROOT_LANGUAGE in languages else default
        has_folder = default != ROOT_LANGUAGE
        roots.append(Root(f"{content}/{{lang}}", "{lang}", default, keeps_default=has_folder))
    is_file = re.search(r"trailingSlash\s*:\s*[\"']never|format\s*:\s*[\"']file", main)
    return Site(
        STARLIGHT._replace(is_pretty=False) if is_file else STARLIGHT,
        folder,
        tuple(roots),
        static=(FilePath(f"{folder}/public".lstrip("/")),),
        base=own_string(text, main, "base") or "",
    )


def _read_nextra(folder: FilePath, path: FilePath, configs: Configs) -> Site | None:
    text = without_comments(_decode(configs[path]))
    if "nextra" not in text:
        return None
    folders = ("content", "src/content", "pages", "src/pages", "app", "src/app")
    roots = (Root(f"{folder}/{pages}".lstrip("/")) for pages in folders)
    static = (FilePath(f"{folder}/public".lstrip("/")),)
    return Site(NEXTRA, folder, tuple(roots), static, base=string_after(text, "basePath") or "")


def _read_fumadocs(folder: FilePath, path: FilePath, configs: Configs) -> Site | None:
    """Return the site of Fumadocs; its code, which is not read, sets the address of a collection.

    That is the name of its folder, or the base of the site.
    """
    text = without_comments(_decode(configs[path]))
    if "fumadocs-mdx" not in text:
        return None
    calls = islice(re.finditer(_FUMADOCS_PAGES, text), MAX_INSTANCES)
    written = (_fumadocs_folder(object_around(text, call.end())) for call in calls)
    folders = [found for name in dict.fromkeys(written) if name and (found := join(folder, name))]
    if not folders:
        return None
    names = [found.rpartition("/")[2] for found in folders]
    roots = (
        Root(found, name if number else "")
        for number, (found, name) in enumerate(zip(folders, names, strict=True))
    )
    static = (FilePath(f"{folder}/public".lstrip("/")),)
    base = "docs" if names[0] == "content" else names[0]
    return Site(FUMADOCS, folder, tuple(roots), static, base=f"/{base}")


def _fumadocs_folder(block: str) -> str | None:
    """Return the folder of a collection; None: it is computed."""
    is_set = re.search(r"\bdir\b", block)
    return string_after(block, "dir") if is_set else "content/docs"


# Generators that are recognized: what UBP does not know of them, the forms of links decide


def _read_eleventy(folder: FilePath, path: FilePath, configs: Configs) -> Site | None:
    text = without_comments(_decode(configs[path]))
    pages = join(folder, string_after(block_after(text, "dir"), "input") or "") or folder
    base = string_after(text, "pathPrefix") or ""
    # Eleventy makes no anchors of headings: plug-ins that the site chooses do
    options = ((OWN_ANCHORS, "yes"),)
    return Site(ELEVENTY, folder, (Root(pages),), static=(pages,), base=base, options=options)


def _read_vocs(folder: FilePath, path: FilePath, configs: Configs) -> Site | None:
    text = without_comments(_decode(configs[path]))
    written = string_after(text, "rootDir")
    # version 1 has its pages in `docs`, version 2 in `src`
    places = ("", "docs") if written is None else (written,)
    source = string_after(text, "srcDir") or "src"
    names = [f"{place}/{name}" for place in places for name in ("pages", f"{source}/pages")]
    roots = [root for name in names if (root := join(folder, name)) is not None]
    found = (join(folder, f"{place}/public") for place in places)
    return Site(
        VOCS,
        folder,
        tuple(Root(root) for root in dict.fromkeys(roots)),
        static=tuple(path for path in found if path is not None),
        base=string_after(text, "basePath") or "",
    )


def _read_nuxt(folder: FilePath, path: FilePath, configs: Configs) -> Site | None:
    text = without_comments(_decode(configs[path]))
    if not re.search(r"@nuxt/content\b|\bdocus\b", text):
        return None
    content, static = (FilePath(f"{folder}/{name}".lstrip("/")) for name in ("content", "public"))
    excluded = tuple(f"{content}/**/{name}{end}" for name in (".*", "-*") for end in ("", "/**"))
    return Site(NUXT, folder, (Root(content),), static=(static,), excluded=excluded)


def _nuxt_anchors(headings: Sequence[HeadingName], site: Site) -> Iterator[str]:
    for name in _docusaurus_anchors(headings, site):
        yield re.sub(r"^(\d)", r"_\1", re.sub(r"-+", "-", name).strip("-"))


def _read_quarto(folder: FilePath, _: FilePath, __: Configs) -> Site | None:
    return Site(QUARTO, folder, (Root(folder),), static=(folder,))


def _read_mystmd(folder: FilePath, _: FilePath, __: Configs) -> Site | None:
    return Site(MYSTMD, folder, (Root(folder),), static=(folder,))


def _read_docsify(folder: FilePath, path: FilePath, configs: Configs) -> Site | None:
    name = path.rpartition("/")[2]
    parents = [folder[:end] for end, letter in enumerate(folder) if letter == "/"]
    if folder and any(f"{parent}/{name}".lstrip("/") in configs for parent in ("", *parents)):
        return None  # a folder of the site may have a sidebar of its own
    return Site(DOCSIFY, folder, (Root(folder),), static=(folder,), navigation=())


def _read_exdoc(folder: FilePath, path: FilePath, configs: Configs) -> Site | None:
    """Return the site of the pages that a project in Elixir lists for ExDoc (`extras`)."""
    text = re.sub(r"(?m)^\s*#.*", "", _decode(configs[path]))
    listed = [join(folder, page) for page in re.findall(_EXDOC_PAGE, text)[:MAX_NAVIGATION]]
    if not re.search(r"\bextras\b", text) or not any(listed):
        return None
    assets = re.search(r"\bassets:\s*%?\{([^}]*)\}", text)
    copied = re.findall(_EXDOC_COPIED, assets[1]) if assets else []
    static = (join(folder, source.removesuffix(f"/{target}")) for source, target in copied)
    return Site(
        EXDOC,
        folder,
        (Root(folder),),
        static=tuple(filter(None, static)),
        published=tuple(filter(None, listed)),
    )


def _exdoc_anchors(headings: Sequence[HeadingName], site: Site) -> Iterator[str]:
    yield from _github_anchors(headings, site)  # as its pages are read there, too
    yield from _numbered(_markdown_headings(headings), _exdoc_id)


def _exdoc_id(heading: HeadingName) -> str:
    return re.sub(r"\W+", "-", heading.text).strip("-").lower()


# GitHub and Obsidian


def _read_obsidian(folder: FilePath, _: FilePath, __: Configs) -> Site | None:
    return Site(OBSIDIAN, folder, (Root(folder),), navigation=())


def _read_dendron(folder: FilePath, path: FilePath, configs: Configs) -> Site | None:
    settings = _read_yaml(configs[path])
    vaults = _get(_value(settings, "workspace"), "vaults") or _value(settings, "vaults")
    folders = (join(folder, _scalar(_get(vault, "fsPath"))) for vault in _items(vaults))
    roots = tuple(Root(vault) for vault in folders if vault is not None)
    return Site(DENDRON, folder, roots or (Root(folder),), navigation=())


def _read_wiki(folder: FilePath, _: FilePath, __: Configs) -> Site | None:
    style = GITHUB._replace(is_wiki=True, labels_first=True, falls_back=False, folder_pages=())
    return Site(style, folder, (Root(folder),), navigation=())


def _read_nothing(folder: FilePath, _: FilePath, __: Configs) -> Site | None:
    return Site(GITHUB, folder, (Root(folder),), navigation=())


def _github_anchors(headings: Sequence[HeadingName], _: Site) -> Iterator[str]:
    for name in github_slugs(github_text(name) for name in headings if name.level != TERM):
        yield name
        yield name.strip("-")  # an image or emoji beside the text leaves a hyphen
    # where one is written, another generator publishes the page too
    yield from (heading.id for heading in headings if heading.id)


MKDOCS = Style("mkdocs", is_pretty=True, verifies="rooted", has_wikilinks=True)
VITEPRESS = Style("vitepress", verifies="all", falls_back=False, folder_pages=("index",))
DOCUSAURUS = Style(
    "docusaurus",
    drops_numbers=True,
    searches_roots=True,
    keys=("id", "slug"),
    site_prefix="@site/",
    localizes_links=True,
)
HUGO = Style(
    "hugo",
    is_pretty=True,
    drops_languages=True,
    verifies="sections",
    ignores_case=True,
    keys=("url", "slug"),
    hyphenates=True,
)
MDBOOK = Style("mdbook", verifies="all", shows_front_matter=True)
JEKYLL = Style("jekyll", is_pretty=True, has_wikilinks=True, keys=("permalink", "slug"))
HEXO = Style("hexo", keys=("permalink",), falls_back=False)
SPHINX = Style("sphinx")
OBSIDIAN = Style("obsidian", has_wikilinks=True, keys=("permalink",))
DENDRON = Style("dendron", has_wikilinks=True, knows_anchors=False, labels_first=True)
ZOLA = Style("zola", is_pretty=True, keys=("slug",), content_prefix="@/")
STARLIGHT = Style(
    "starlight",
    is_pretty=True,
    verifies="sections",
    ignores_case=True,
    keys=("slug",),
    whole_keys=("slug",),
    slugs_names=True,
    folder_pages=("index",),
)
NEXTRA = Style("nextra", folder_pages=("index", "page"))
FUMADOCS = Style("fumadocs", folder_pages=("index",), drops_groups=True)
ELEVENTY = Style("eleventy", is_pretty=True, keys=("permalink",), knows_anchors=False)
VOCS = Style("vocs", folder_pages=("index",), knows_anchors=False)
NUXT = Style(
    "nuxt",
    is_pretty=True,
    drops_numbers=True,
    folder_pages=("index",),
    makes_addresses=True,
    knows_anchors=False,
)
QUARTO = Style("quarto", knows_anchors=False)
MYSTMD = Style("mystmd", knows_anchors=False)
DOCSIFY = Style("docsify", searches_roots=True, shows_front_matter=True, knows_anchors=False)
EXDOC = Style(
    "exdoc",
    shows_front_matter=True,
    falls_back=False,
    folder_pages=(),
    knows_anchors=False,
    finds_names=True,
)
GITHUB = Style("github", has_wikilinks=True, shows_front_matter=True)

GENERATORS = (
    Generator(
        MKDOCS,
        r"(?:mkdocs[\w.-]*|properdocs)\.ya?ml|zensical\.toml",
        _read_mkdocs_or_zensical,
        _mkdocs_anchors,
        "Python-Markdown's toc",
    ),
    Generator(
        VITEPRESS,
        r"\.vitepress/config(?:/index)?\.[cm]?[jt]s",
        _read_vitepress,
        _vitepress_anchors,
        "markdown-it-anchor's, with VitePress's slugs",
    ),
    Generator(
        DOCUSAURUS,
        r"docusaurus\.config\.[cm]?[jt]s",
        _read_docusaurus,
        _docusaurus_anchors,
        "github-slugger's, as Docusaurus calls it",
    ),
    Generator(
        HUGO,
        r"(?:config/_default/)?(?:hugo|config)\.(?:toml|ya?ml)",
        _read_hugo_or_zola,
        _hugo_anchors,
        "Hugo's, of Goldmark's headings",
    ),
    Generator(MDBOOK, r"book\.toml", _read_mdbook, _mdbook_anchors, "mdBook's"),
    Generator(
        JEKYLL,
        r"_config\.ya?ml",
        _read_jekyll_or_hexo,
        _jekyll_anchors,
        "kramdown's, of GitHub's Markdown",
    ),
    Generator(
        HEXO, r"(?!)", _read_nothing, _hexo_anchors, "hexo-renderer-marked's"
    ),  # its files are read as Jekyll's
    Generator(SPHINX, r"conf\.py", _read_sphinx, _sphinx_anchors, "MyST's"),
    Generator(
        STARLIGHT,
        r"astro\.config\.[cm]?[jt]s",
        _read_starlight,
        _starlight_anchors,
        "github-slugger's, as Astro calls it",
    ),
    Generator(
        NEXTRA,
        r"next\.config\.[cm]?[jt]s",
        _read_nextra,
        _nextra_anchors,
        "github-slugger's, and [#id]",
    ),
    Generator(
        FUMADOCS,
        r"source\.config\.[cm]?[jt]s",
        _read_fumadocs,
        _nextra_anchors,
        "github-slugger's, and [#id]",
    ),
    Generator(
        ELEVENTY,
        r"(?:\.eleventy|eleventy\.config)\.[cm]?js",
        _read_eleventy,
        _github_anchors,
        "those of any generator",
    ),
    Generator(
        VOCS,
        r"vocs\.config\.[cm]?[jt]sx?",
        _read_vocs,
        _github_anchors,
        "those of any generator",
    ),
    Generator(
        NUXT,
        r"nuxt\.config\.[cm]?[jt]s",
        _read_nuxt,
        _nuxt_anchors,
        "those of any generator",
    ),
    Generator(QUARTO, r"_quarto\.ya?ml", _read_quarto, _github_anchors, "those of any generator"),
    Generator(MYSTMD, r"myst\.yml", _read_mystmd, _github_anchors, "those of any generator"),
    Generator(DOCSIFY, r"_sidebar\.md", _read_docsify, _github_anchors, "those of any generator"),
    Generator(EXDOC, r"mix\.exs", _read_exdoc, _exdoc_anchors, "those of any generator"),
    Generator(
        OBSIDIAN,
        r"\.obsidian/app\.json",
        _read_obsidian,
        _github_anchors,
        "the text of the heading, as Obsidian links to it",
    ),
    Generator(DENDRON, r"dendron\.yml", _read_dendron, _github_anchors, "those of any generator"),
    Generator(
        ZOLA, r"(?!)", _read_nothing, _github_anchors, "taken for GitHub's"
    ),  # its files are read as Hugo's
    Generator(GITHUB, r"_Sidebar\.md", _read_wiki, _github_anchors, "GitHub's"),
)
"""In the order of preference where two sites publish the same folder."""

# Texts: every search loads this table, and few of them need a pattern.
_MKDOCS_EMOJI = frozenset({"pymdownx.emoji", "materialx.emoji"})
_MKDOCS_NAME = r"(?:mkdocs|properdocs)\.ya?ml"
_MKDOCS_SLUGIFY = frozenset({"", "slugify", "uslugify", "slugify_unicode", "gfm", "uslugify_cased"})
_LANGUAGE = r"[a-z]{2}(?:[-_][A-Za-z]{2,4})?"
_FUMADOCS_PAGES = (
    r"\bdefineDocs\s*\(\s*[{)]|\bdefineCollections\s*\(\s*\{[^{}]*?\btype:\s*[\"']doc[\"']"
)
# Extensions and code that define labels, or write pages.
_SPHINX_LABELS = (
    r"intersphinx|autosectionlabel|autoapi|autodoc2|breathe|exhale|gallery|import \*|\bexec\("
)
_SPHINX_PAGES = (
    r"autosummary|apidoc|autoapi|autodoc2|exhale|gallery|external_toc|import \*|\bexec\(|subprocess"
    r"|os\.system|shutil|symlink|\.write|open\([^)\n]*[\"'][wa]"
)
_COUNTED = r"(?s)(.*)_(\d+)$"
_HUGO_FILE = (
    r"(?i)\.(?:md|markdown|html?|txt|css|js|json|xml|ya?ml|toml|csv|ico|png|jpe?g|svg|webp|gif)$"
)
_EMOJI_NAME = r"(?<![\w:])(?::[a-z0-9_+-]+:)+(?![\w:])"  # no part of `a::b::c`, or of 10:30:45
_VITEPRESS = rb'"vitepress"\s*:\s*"[\^~>=v\s]*(?P<major>\d*)'
_HEXO = rb'"hexo"\s*:'
_HEXO_SEPARATORS = r"[\s~`!@#$%^&*()\-_+=\[\]{}|\\;:\"'<>,.?/]+"
_PLAIN_LETTERS = str.maketrans("\u0131\u00f8\u00d8\u0142\u0141", "ioOlL")  # that Unicode has whole
_TYPOGRAPHIC = (
    ("---", "\u2014"),
    ("--", "\u2013"),
    ("(^|[-\u2014/(\\[{\"\\s])'", "\\1\u2018"),
    ("'", "\u2019"),
    ('(^|[-\u2014/(\\[{\u2018\\s])"', "\\1\u201c"),
    ('"', "\u201d"),
    ("\\.{3}", "\u2026"),
)
# the names that are imported from a package other than VitePress
_PACKAGE_IMPORT = r"\bimport\s+([^'\"]+?)\s+from\s+['\"](?![./~]|@/|vitepress['\"/])"
_VITEPRESS_KEYS = "title|description|themeConfig|srcDir|cleanUrls|rewrites|markdown|lastUpdated"
_VITEPRESS_SEPARATORS = r"[\s~`!@#$%^&*()\-_+=\[\]{}|\\;:\"'“”‘’<>,.?/]+"  # noqa: RUF001 - quotes
_EXDOC_PAGE = r"\"([^\"#\n]+\.(?:md|livemd|cheatmd|\{[\w,]*\}))\""
_EXDOC_COPIED = r"\"(?:\./)?([^\"\n]+)\"\)?\s*=>\s*\"([^\"\n]+)\""
_HUGO_CONFIGS = "config/_default"
_HUGO_PART = (
    r"(?P<name>languages|module|markup)(?:\.(?P<language>[a-z]{2}(?:-[A-Za-z]+)?))?\.(?:toml|ya?ml)"
)
_HUGO_LINK_HOOK = r"(?:themes/[^/]+/)?layouts/(?:_default/)?_markup/render-link(?:\.\w+)?\.html"
_HUGO_KEYS = frozenset({"baseurl", "languagecode", "theme", "markup", "contentdir", "taxonomies"})
_HAS_HUGO_KEY = b"(?i)" + "|".join(sorted(_HUGO_KEYS)).encode()


def _markdown_headings(headings: Iterable[HeadingName]) -> Iterator[HeadingName]:
    """Yield the headings, but not those in HTML, and no terms."""
    return (heading for heading in headings if 0 < heading.level < TERM)


def _numbered(
    headings: Iterable[HeadingName], slug_of: Callable[[HeadingName], str]
) -> Iterator[str]:
    """Yield own ids and slugs; a slug that was used gets the first free number."""
    used: set[str] = set()
    numbers: dict[str, int] = {}  # those below are used: a page may have 10,000 equal headings
    for heading in headings:
        base = name = heading.id or slug_of(heading)
        number = numbers.get(base, 1)
        while name in used and not heading.id:
            name, number = f"{base}-{number}", number + 1
        numbers[base] = number
        used.add(name)
        yield name


# Configuration files


def _decode(data: bytes) -> str:
    return data.decode("utf-8", "replace")


def _read_yaml(data: bytes) -> list[Node]:
    """Return the mapping of a YAML file in a list, an empty one if it has none."""
    try:
        root = read_yaml(_decode(data))
    except BadYamlError:
        return []
    return [root] if root is not None and root.kind == "mapping" else []


def _get(node: Node | None, name: str) -> Node | None:
    pair = node.get(name) if node is not None else None
    return pair[1] if pair else None


def _value(settings: Sequence[Node], name: str) -> Node | None:
    """Return the value of a key in the first mapping that has it."""
    return next((value for root in settings if (value := _get(root, name))), None)


def _scalar(node: Node | None) -> str:
    return node.value if node is not None and node.kind == "scalar" else ""


def _text(settings: Sequence[Node], name: str) -> str:
    return _scalar(_value(settings, name))


def _items(node: Node | None) -> tuple[Node, ...]:
    return node.items if node is not None else ()


def _scalars(node: Node | None) -> Iterator[str]:
    """Yield the scalars in a tree, keys excepted."""
    stack = [node] if node is not None else []
    while stack:
        current = stack.pop()
        if current.kind == "scalar":
            yield current.value
        stack += [*reversed(current.items), *(value for _, value in current.pairs)]


def _read_settings(path: FilePath, data: bytes) -> dict[str, Any] | None:
    """Return the settings of a TOML or YAML file with their keys in lower case."""
    if path.endswith(".toml"):
        from ubp.core.toml import parse_toml  # few sites are configured in TOML

        try:
            settings: dict[str, Any] = _lower_keys(parse_toml(_decode(data)))
        except ValueError:
            return None
        return settings
    return next((_lower_keys(_plain(root)) for root in _read_yaml(data)), None)


def _plain(node: Node) -> Any:
    if node.kind == "mapping":
        return {key.value: _plain(value) for key, value in node.pairs}
    return [_plain(item) for item in node.items] if node.kind == "sequence" else node.value


def _lower_keys(value: Any) -> Any:
    if isinstance(value, dict):
        return {str(key).lower(): _lower_keys(item) for key, item in value.items()}
    return [_lower_keys(item) for item in value] if isinstance(value, list) else value


def _dig(value: Any, *names: str) -> Any:
    """Return a value in nested mappings, None if there is none."""
    for name in names:
        value = value.get(name) if isinstance(value, dict) else None
    return value


def _json_strings(data: bytes) -> list[str]:
    return strings_in(_decode(data))
