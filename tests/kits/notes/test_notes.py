"""Notes: their fields, what they are found by, trends, answers and recommendations."""

import time

import pytest

from tests.kits.notes.conftest import NOTES, NOW, note
from ubp.frame.wording import Style, joined
from ubp.frame.writer import Writer
from ubp.kits.notes import ask, recommend, trends
from ubp.kits.notes.ask import AskRequest
from ubp.kits.notes.names import find_names, joined_name
from ubp.kits.notes.note import NoteFilter, read_all_notes
from ubp.kits.notes.recommend import RecommendationsRecord, RecommendRequest
from ubp.kits.notes.search import NoteSearch
from ubp.kits.notes.trends import TrendsRequest
from ubp.workspace import Workspace


def test_fields_come_from_front_matter_else_from_the_path_and_the_first_commit(session):
    notes = read_all_notes(session, session.view())
    first, last = notes["1.md"], notes["garden/tomatoes.md"]
    assert (first.id, first.day, first.category) == ("1", "2025-01-15", "AI-Tools")
    assert (first.tags, first.author, first.summary) == (("rag", "llm"), "@ai", "Five patterns.")
    assert (last.day, last.category, last.title) == ("2023-11-15", "garden", "Tomatoes")


@pytest.mark.parametrize(
    ("wanted", "paths"),
    [
        (NoteFilter(), {"1.md", "2.md", "3.md", "4.md", "garden/tomatoes.md"}),
        (NoteFilter(category="ai-tools"), {"1.md", "2.md", "3.md"}),
        (NoteFilter(date_from="2025-01-05", date_to="2025-01-15"), {"1.md", "2.md", "3.md"}),
        (NoteFilter(date_to="2025-01-04T12:00:00Z"), {"4.md", "garden/tomatoes.md"}),
        (NoteFilter(sentiment="positive", action="try_tool"), {"1.md"}),
        (NoteFilter(date_from="soon"), set()),
    ],
)
def test_filters_select_notes(session, wanted, paths):
    notes = read_all_notes(session, session.view())
    assert {path for path, note in notes.items() if wanted.matches(note)} == paths


def test_search_finds_only_selected_notes(session):
    search = NoteSearch(session)
    assert search.find("vector database", 10).hits[0].note.path in {"1.md", "2.md"}
    found = search.find("vector database", 10, NoteFilter(category="Food"))
    assert {hit.note.path for hit in found.hits} <= {"4.md"}


def test_expired_note_gives_no_answer(notes):
    notes.write("4.md", NOTES["4.md"].replace("id:", "expires_at: 2025-01-10\nid:"))
    notes.commit()
    for now, paths in ((NOW, set()), (NOW - 10 * 86_400, {"4.md"})):
        with Workspace.open(str(notes.root), clock=lambda now=now: now) as workspace:
            found = NoteSearch(workspace.session).find("sourdough", 5)
            assert {hit.note.path for hit in found.hits} & {"4.md"} == paths
            trends = workspace.ask(TrendsRequest("1m"))
            assert ("Food" in {topic.topic for topic in trends.topTopics}) == bool(paths)


def test_names_are_published_software_and_capitalized_words_outside_code():
    names = find_names(
        "MCP and LLMs with LangChain, see https://github.com/acme/vector-db.git, "
        "https://pypi.org/project/httpx/ and https://github.com/features/copilot.\n\n"
        "`NotThis` and https://example.com/NorThis\n\n```\nclass NeitherThis\n```\n"
    )
    assert names.tools == {"vector-db": "vector-db", "httpx": "httpx", "langchain": "LangChain"}
    assert names.acronyms == {"mcp": "MCP", "llm": "LLM"}
    assert names.repositories == {"vector-db": "https://github.com/acme/vector-db"}


def test_japanese_names_are_katakana_quoted_and_latin_words():
    names = find_names(
        "---\ntitle: オモテ\n---\n\n# ラズベリーパイでAIエージェントを動かす\n\n"
        "LangChainを使って「ずんだもん」がパンのデータを読み、ジョン・スミスとｷﾀﾑﾗのMCPサーバーに送る。"
        "『吾輩は猫である』。「はい、そうです。」`コードブロック`\n"
    )
    assert [*names.japanese.values()] == [
        "ずんだもん",
        "吾輩は猫である",
        "ラズベリーパイ",
        "AIエージェント",
        "ジョン・スミス",
        "キタムラ",
        "MCPサーバー",
    ]
    assert names.tools == {"langchain": "LangChain"}
    assert names.acronyms == {"ai": "AI", "mcp": "MCP"}


def test_katakana_word_of_many_notes_is_neither_topic_nor_new(notes):
    for number in range(6):
        body = "パターンの説明。" + "センパイの話。" * (number < 2)
        notes.write(f"ja{number}.md", note(f"Title {number}", body, date="2025-01-10"))
    notes.commit()
    with Workspace.open(str(notes.root), clock=lambda: NOW) as workspace:
        found = workspace.ask(TrendsRequest("1m"))
    names = {topic.topic for topic in found.topTopics} | {tool.name for tool in found.newTools}
    assert names & {"パターン", "センパイ"} == {"センパイ"}


def test_japanese_names_are_topics_of_a_period_and_new(notes):
    texts = {
        "5.md": ("2025-01-15", "ラズベリーパイで「ずんだもん」を動かす。キーボードもある。"),
        "6.md": ("2025-01-14", "「ずんだもん」とラズベリーパイの設定。"),
        "7.md": ("2025-01-02", "キーボードの選びかた。"),
    }
    for path, (day, text) in texts.items():
        notes.write(path, f"---\ndate: {day}\n---\n\n# {path}\n\n{text}\n")
    notes.commit()
    with Workspace.open(str(notes.root), clock=lambda: NOW) as workspace:
        trends = workspace.ask(TrendsRequest("1w"))
    topics = {topic.topic: (topic.count, topic.trend) for topic in trends.topTopics}
    assert topics["ラズベリーパイ"] == topics["ずんだもん"] == (2, "new")
    assert "キーボード" not in topics
    new = {tool.name: tool.mentions for tool in trends.newTools}
    assert new["ラズベリーパイ"] == new["ずんだもん"] == 2
    assert "キーボード" not in new


def test_name_that_is_mentioned_no_more_than_before_is_no_topic(notes):
    for number in range(50):  # it is not common
        notes.write(f"old/{number}.md", f"---\ndate: 2024-06-01\n---\n\n# {number}\n")
    for path, day in (("5.md", 15), ("6.md", 14), ("7.md", 7), ("8.md", 6)):
        notes.write(path, f"---\ndate: 2025-01-{day:02}\n---\n\n# {path}\n\nAbout FastAPI.\n")
    notes.commit()
    with Workspace.open(str(notes.root), clock=lambda: NOW) as workspace:
        trends = workspace.ask(TrendsRequest("1w"))
    assert "FastAPI" not in {topic.topic for topic in trends.topTopics}


@pytest.mark.parametrize(
    "text",
    [
        "A" * 200000 + "_",
        "<" * 200000,
        "`" * 200001,
        "~~~~\n```\n" * 20000,
        "aB" * 100000,
        "---\n" * 50000,
        "https://" * 30000,
        "A a" * 60000,
        "\n" * 200000,
        "x: A" * 50000,
        "ア" * 200000,
        "ア・" * 100000,
        "「" * 200000,
        "「ア" * 100000,
        "A" * 200000 + "ア",
    ],
    ids=range(15),
)
def test_names_of_any_text_are_found_in_linear_time(text):
    started = time.process_time()
    find_names(text)
    assert time.process_time() - started < 2


def test_period_is_compared_with_the_previous_one(session):
    record = trends.run(session, TrendsRequest("1w"))
    assert (record.notes, record.notes_before) == (2, 2)
    topics = {topic.topic: (topic.count, topic.before, topic.trend) for topic in record.topTopics}
    assert topics == {
        "AI-Tools": (2, 1, "stable"),
        "CrewAI": (2, 0, "new"),
        "llm": (2, 1, "stable"),
        "agents": (1, 0, "new"),
        "rag": (1, 0, "new"),
        "Food": (0, 1, "down"),
    }
    assert record.topTopics[0].line[-2:] == (1, 2)
    assert [note.path for note in record.notableBookmarks] == ["1.md", "2.md"]
    assert [(tool.name, tool.mentions) for tool in record.newTools] == [
        ("CrewAI", 2),
        ("vectordb", 1),
    ]


def test_category_and_end_limit_the_trends(session):
    record = trends.run(session, TrendsRequest("2w", "food", until="2025-01-04"))
    assert (record.notes, record.notes_before, record.newTools) == (1, 0, ())
    assert [(topic.topic, topic.trend) for topic in record.topTopics] == [("Food", "new")]


def test_answer_is_a_passage_as_written(session):
    answer = ask.run(session, AskRequest("How much sun do tomatoes need?"))
    best = answer.sources[0]
    assert best.path == "garden/tomatoes.md"
    assert "They need six hours of sun." in best.text
    assert answer.confidence >= 0.8
    assert not answer.is_weak
    nothing = ask.run(session, AskRequest("zzz qqq xyzzy"))
    assert (nothing.sources, nothing.confidence, nothing.is_weak) == ((), 0.0, True)


def test_word_that_no_note_contains_is_answered_without_confidence(notes):
    notes.write(
        "jq.md", "# Jq\n\nHow to write recipes for jq, with the help of a chat: jq -r .[]\n"
    )
    with Workspace.open(str(notes.root)) as workspace:
        answer = workspace.ask(AskRequest("zzzqqq"))
        # Its letters are near in meaning, and no other note is.
        assert [source.path for source in answer.sources] == ["jq.md"]
        assert answer.confidence < ask.MIN_CONFIDENCE
        assert answer.is_weak
        assert "Probably no page answers this." in joined(ask.text(answer, Writer()))


def test_confidence_without_meaning_depends_on_the_words_found(notes, monkeypatch):
    # As if no model were available.
    monkeypatch.setattr("ubp.search.run._open_semantic", lambda *_: (None, None))
    with Workspace.open(str(notes.root)) as workspace:
        found = workspace.ask(AskRequest("how many hours of sun do tomatoes need"))
        other = workspace.ask(
            AskRequest("what the price of a big house in the middle of London costs")
        )
        assert found.sources[0].path == "garden/tomatoes.md"
        assert found.confidence >= 0.6
        assert other.sources
        assert other.is_weak


@pytest.mark.parametrize(
    ("question", "is_weak"),
    [
        ("依存パッケージを自動で更新するツール", False),
        ("ブラウザの自動テスト", False),
        ("小麦粉の量", False),
        ("住宅ローンの金利の比較", True),
        ("味噌汁の作り方を教えて", True),
    ],
)
def test_japanese_question_over_english_notes_is_answered_by_meaning(repository, question, is_weak):
    repository.write(
        "renovate.md", "# Renovate\n\nAutomated dependency updates for package managers.\n"
    )
    repository.write(
        "playwright.md", "# Playwright\n\nEnd-to-end tests in browsers with auto-waiting.\n"
    )
    repository.write("bread.md", "# Sourdough\n\nFlour and water, 500 g each.\n")
    repository.commit()
    with Workspace.open(str(repository.root)) as workspace:
        answer = workspace.ask(AskRequest(question))
    assert answer.is_weak is is_weak
    assert answer.searched == "page"


def test_better_note_in_the_language_of_the_question_limits_the_confidence_in_another(repository):
    repository.write(
        "playwright.md", "# Playwright\n\nEnd-to-end tests in browsers with auto-waiting.\n"
    )
    repository.write("plan.md", "# ブラウザの自動テスト\n\n予定。\n")
    repository.write("bread.md", "# Sourdough\n\nFlour and water, 500 g each.\n")
    repository.commit()
    with Workspace.open(str(repository.root)) as workspace:
        answer = workspace.ask(AskRequest("Playwrightのブラウザの自動テスト"))
    assert [source.path for source in answer.sources] == ["plan.md", "playwright.md"]
    assert answer.confidence == ask.MAX_CROSS


def test_recommendations_state_need_and_notes_and_omit_tools_in_use(session):
    request = RecommendRequest("An assistant", ("LangChain",), ("agents", "vector database"))
    found = recommend.run(session, request).recommendations
    tools = {each.name: each for each in found if each.type == "tool"}
    assert "LangChain" not in tools
    assert "2.md" in tools["CrewAI"].paths
    assert len({(each.type, each.name, each.title) for each in found}) == len(found)


def test_article_about_a_recommended_tool_is_no_second_recommendation(session):
    found = recommend.run(session, RecommendRequest("An assistant", (), ("agents",)))
    (crew,) = (each for each in found.recommendations if "2.md" in each.paths)
    assert (crew.type, crew.name) == ("tool", "CrewAI")


BOOKMARKS = {
    "llama.md": note(
        "LlamaIndex",
        "Connects private documents to models, for RAG. llama_index has loaders.",
        url="https://github.com/run-llama/llama_index",
        tags="[rag, llm]",
    ),
    "ruff.md": note(
        "Ruff", "Checks Python.", url="https://docs.astral.sh/ruff/", tags="[linting, python]"
    ),
    "survey.md": note("A survey of RAG", "LlamaIndex and others.", url="https://a.example/survey"),
    "bread.md": note("Sourdough", "Flour and water.", url="https://b.example/bread"),
    "tools.md": note("Tools for wood", "A tool for the protection of wood.", tags="[wood]"),
    "queue.md": note(
        "Rabbithole",
        "Runs background tasks and tries failed ones again.",
        url="https://github.com/acme/rabbithole",
        tags="[queues]",
    ),
    "formgo.md": note("Formgo", "Forms for Go.", url="https://github.com/acme/formgo"),
    "formwork.md": note("Formwork", "Forms for Django.", url="https://github.com/acme/formwork"),
}


@pytest.fixture
def recommended(repository):
    """Return the names and titles that bookmarks recommend."""
    for path, text in BOOKMARKS.items():
        repository.write(path, text)
    repository.commit()

    def ask(context, *needs, stack=()):
        with Workspace.open(str(repository.root)) as workspace:
            request = RecommendRequest(context, stack, needs)
            return recommend.run(workspace.session, request).recommendations

    return ask


def test_context_alone_recommends_a_tool_once_under_all_its_spellings(recommended):
    first, *others = recommended("a RAG pipeline over company documents")
    assert (first.type, first.name) == ("tool", "LlamaIndex")
    assert first.reason.startswith(
        'Meets "a RAG pipeline over company documents": "Connects private documents'
    )
    assert [(each.name, each.title) for each in others] == [("", "A survey of RAG")]
    assert not any(each.name for each in recommended("RAG over documents", stack=("llama_index",)))


def test_need_that_only_a_tag_names_recommends_its_note(recommended):
    (ruff,) = recommended("A parser", "linting")
    assert (ruff.name, ruff.paths) == ("Ruff", ("ruff.md",))


def test_words_that_fit_every_need_do_not_decide(recommended):
    assert [each.name for each in recommended("A parser", "linting tool")] == ["Ruff"]


@pytest.mark.parametrize(
    "context",
    ["booking hotel rooms and flights", "畑の機器のソフトを無線で更新したい。", "asdf qwer"],
)
def test_context_about_something_else_recommends_nothing(recommended, context):
    assert recommended(context) == ()


def test_nearest_notes_are_three_weak_recommendations_if_none_surely_meets_a_need(recommended):
    found = recommended("baking", "questionnaires")
    assert [each.is_weak for each in found] == [True, True, True]
    assert all(each.reason.startswith("Perhaps ") for each in found)
    lines = [*recommend.text(RecommendationsRecord(recommendations=found), Writer(is_agent=True))]
    assert lines[1] == "Probably no note meets this. Nearest:"


def test_need_that_is_surely_met_leaves_out_weak_recommendations(recommended):
    (bread,) = recommended("baking", "questionnaires", "sourdough")
    assert (bread.title, bread.needs, bread.is_weak) == ("Sourdough", ("sourdough",), False)


def test_context_in_other_words_than_the_note_recommends_its_tool(recommended):
    (queue,) = recommended(
        "When somebody orders, the page waits for the receipt. "
        "That should happen later, and again if it fails."
    )
    assert queue.name == "Rabbithole"


def test_part_of_the_stack_counts_where_a_note_mentions_it_as_a_word(recommended):
    names = [each.name for each in recommended("forms of a web site")]
    assert names == ["Formwork", "Formgo"]
    # "Django" contains "go", too.
    names = [each.name for each in recommended("forms of a web site", stack=("Go",))]
    assert names == ["Formgo", "Formwork"]


def test_spellings_are_one_topic_and_general_terms_are_none(notes):
    texts = {
        "5.md": ("2025-01-15", "[l](https://github.com/run-llama/llama_index) and AI on GitHub."),
        "6.md": ("2025-01-14", "LlamaIndex reads CPython with AI, says OpenAI and IVFFlat."),
        "7.md": ("2025-01-14", "LlamaIndex again: AI, CPython, GitHub."),
        "8.md": ("2025-01-13", "Only one note mentions OnlyOnce."),
    }
    for path, (day, text) in texts.items():
        notes.write(path, f"---\ndate: {day}\n---\n\n# {path}\n\n{text}\n")
    notes.commit()
    with Workspace.open(str(notes.root), clock=lambda: NOW) as workspace:
        trends = workspace.ask(TrendsRequest("1w"))
    topics = {topic.topic: topic.count for topic in trends.topTopics if topic.kind == "name"}
    assert topics["LlamaIndex"] == 3
    assert not topics.keys() & {"llama_index", "AI", "CPython", "GitHub", "OpenAI"}
    new = {tool.name: tool.mentions for tool in trends.newTools}
    assert new["LlamaIndex"] == 3
    assert not new.keys() & {"llama_index", "CPython", "GitHub", "OpenAI", "IVFFlat", "OnlyOnce"}


def test_notes_that_many_liked_are_notable_also_without_a_topic(notes):
    for path, likes in (("5.md", "likes: 12"), ("6.md", "stars: 1250"), ("7.md", "likes: many")):
        text = f"---\ndate: 2025-01-15\n{likes}\n---\n\n# {path}\n\nNothing else.\n"
        notes.write(path, text)
    notes.commit()
    with Workspace.open(str(notes.root), clock=lambda: NOW) as workspace:
        trends = workspace.ask(TrendsRequest("1w"))
    notable = [(note.path, note.reason) for note in trends.notableBookmarks]
    assert notable[:2] == [
        ("6.md", "Likes or stars: 1,250."),
        ("5.md", "Likes or stars: 12."),
    ]
    assert "1.md" in {path for path, _ in notable[2:]}
    assert "7.md" not in {path for path, _ in notable}


@pytest.mark.parametrize(
    ("first", "second", "is_one"),
    [
        ("LlamaIndex", "llama_index", True),
        ("Llama Index", "llama-index", True),
        ("Café", "cafe", True),
        ("バグ", "ハグ", False),
    ],
)
def test_spellings_of_a_name_have_one_key(first, second, is_one):
    assert (joined_name(first) == joined_name(second)) is is_one


@pytest.mark.parametrize("query", ["vector-db", "vector db", "ベクトル検索"])
def test_tag_that_no_text_contains_is_found_as_a_word(repository, query):
    repository.write("a.md", "---\ntags: [vector-db, ベクトル検索]\n---\n\n# Chroma\n\nAn index.\n")
    repository.write("b.md", "---\ntags: [metrics]\n---\n\n# Prometheus\n\nA time series store.\n")
    repository.commit()
    with Workspace.open(str(repository.root)) as workspace:
        hits = NoteSearch(workspace.session).find(query, 5).hits
    assert hits[0].note.title == "Chroma"
    assert hits[0].hit.breakdown.words


def test_words_of_the_question_are_marked_in_the_passages(repository):
    repository.write("a.md", "# Chroma\n\nA database\nof vectors.\n\tVector search.\n")
    repository.commit()
    with Workspace.open(str(repository.root)) as workspace:
        answer = workspace.ask(AskRequest("Which vector database is there?"))
    (source,) = answer.sources
    marked = [source.text[start:end] for start, end in source.highlights]
    assert marked == ["database", "vectors", "Vector"]
    people = joined(ask.text(answer, Writer(Style(is_on=True))))
    assert "A \x1b[32mdatabase\x1b[0m\n" in people
    assert people.index("Confidence that a passage answers") < people.index("Chroma")
    assert "has database, vectors, Vector\n" in joined(ask.text(answer, Writer(is_agent=True)))
