"""The full-screen view in which items are decided one by one, by keys. It alone uses textual.

Texts come from a Writer, so that no control character of a document reaches the terminal; textual
shows them as they are, without looking for markup in them.
"""

import os
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import ClassVar

from rich.text import Text
from textual import events
from textual.app import App as Screens
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical, VerticalScroll
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Input, OptionList, Static
from textual.widgets.option_list import Option

from ubp.cli.decisions import UNDECIDED, Choice, Decision, Decisions, Item, Panes
from ubp.cli.display import fit, fit_end
from ubp.core.errors import UbpError
from ubp.core.model import FilePath
from ubp.frame.wording import count, joined, printable

Files = Mapping[FilePath, bytes]

LIST_WIDTH = 25  # a third of 80 columns, without the mark and a scroll bar
TITLE_WIDTH = 50
NARROW = 72  # columns, below which the list is above the page
MAX_LINES = 2000  # of a pane; the commands that a review prints show all
TAB = 4

HELP = """\
{choices}
  s           skip: leave it for later
  u           undo the last step

  up, down    the item before, the next one; also k and j
  left        back to the item before; also Backspace
  Tab         scroll the page or its sources with the arrows
  space       scroll the page
  q           leave: you are asked before anything is written
  Ctrl-C      leave, and write nothing

Enter decides nothing. Press any key to go on.
"""


class ReviewApp(Screens[dict[int, Decision]]):
    """The list on the left; on the right the page, and below it what changed in its sources."""

    ENABLE_COMMAND_PALETTE = False
    CSS = """
    #title, #keys { height: 1; text-wrap: nowrap; text-overflow: ellipsis; }
    #title { text-style: bold; }
    #items { width: 27; height: 1fr; border: none; padding: 0; scrollbar-size: 1 1; }
    #items:focus { border: none; }
    .-narrow #body { layout: vertical; }
    .-narrow #items { width: 1fr; height: 6; }
    #panes { width: 1fr; height: 1fr; }
    .pane {
        height: 3fr; border-top: solid ansi_default; padding: 0 0 0 1; scrollbar-size: 1 1;
    }
    .pane:focus { border-title-style: reverse; }
    #source-pane { height: 2fr; }
    #source-pane.-empty { display: none; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        *(Binding(key, f"choose('{key}')", show=False) for key in "arxb"),
        Binding("e", "edit", show=False),
        Binding("m", "reason", show=False),
        Binding("s", "skip", show=False),
        Binding("u", "undo", show=False),
        Binding("question_mark", "help", show=False),
        Binding("j,n,right", "move(1)", show=False),
        Binding("k,p,left,backspace", "move(-1)", show=False),
        Binding("space", "scroll", show=False),
        Binding("q", "leave", show=False),
        Binding("ctrl+q", "leave", show=False, priority=True),
        Binding("ctrl+c", "abort", show=False, priority=True),
    ]

    def __init__(
        self, title: str, items: Sequence[Item], edit: Callable[[Files], Files] | None = None
    ) -> None:
        super().__init__(ansi_color=True)
        self.HORIZONTAL_BREAKPOINTS = [(0, "-narrow"), (NARROW, "-wide")]
        self.theme = "ansi-dark"  # the colors of the terminal
        self._title, self._items, self._edit = title, items, edit
        self._shown = 0
        self.decisions = Decisions(len(items))

    def compose(self) -> ComposeResult:
        """Yield the widgets."""
        yield Static(id="title", markup=False)
        with Horizontal(id="body"):
            labels = (_label(item, UNDECIDED, is_shown=False) for item in self._items)
            yield OptionList(*map(Option, labels), id="items", markup=False)
            with Vertical(id="panes"):
                with VerticalScroll(id="page-pane", classes="pane"):
                    yield Static(id="page", markup=False)
                with VerticalScroll(id="source-pane", classes="pane"):
                    yield Static(id="source", markup=False)
        yield Static(id="keys", markup=False)

    def on_mount(self) -> None:
        """Show the first item."""
        self._list.highlighted = 0
        self._list.focus()

    def on_option_list_option_highlighted(self) -> None:
        """Show the item that was moved to."""
        shown, self._shown = self._shown, self._number
        self._relabel(shown)
        self._show(is_new=True)

    def action_choose(self, key: str) -> None:
        """Decide about the item, after asking for what the choice requires."""
        number = self._number
        choice = next((c for c in self._items[number].choices if c.key == key), None)
        if choice is None:
            return
        if choice.prompt:
            self._ask(choice, number)
        else:
            self.decisions.choose(number, choice, choice.text)
            self._go_on(number)

    def action_reason(self) -> None:
        """Ask for the reason of the decision."""
        choice = self.decisions[self._number].choice
        if choice is not None and choice.has_reason:
            self._ask(choice, self._number)

    def action_edit(self) -> None:
        """Open the files of the item in the editor; an item without any may ask for a text."""
        number = self._number
        files = {**self._items[number].files, **self.decisions[number].edited}
        if not files or self._edit is None:
            self.action_choose("e")
            return
        after: Files = files
        failure = ""
        with self.suspend():  # an error would leave the view suspended
            try:
                after = self._edit(files)
            except UbpError as error:
                failure = error.message
        if failure:
            self._tell(failure)
            return
        before = self._items[number].files
        self.decisions.edit(
            number, {path: after[path] for path in files if after[path] != before[path]}
        )
        self._show(is_new=True)

    def action_skip(self) -> None:
        """Leave the item for later."""
        self.decisions.skip(self._number)
        self._go_on(self._number)

    def action_undo(self) -> None:
        """Take the last step back, and show the item that it was about."""
        number = self.decisions.undo()
        if number is not None:
            self._relabel(number)
            self._list.highlighted = number
            self._show(is_new=False)

    def action_move(self, step: int) -> None:
        """Go to the next item, or to the one before."""
        self._list.highlighted = min(max(self._number + step, 0), len(self._items) - 1)

    def action_scroll(self) -> None:
        """Scroll the page."""
        self.query_one("#page-pane").scroll_page_down(animate=False)

    def action_help(self) -> None:
        """Show all keys."""
        choices = self._items[self._number].choices
        keys = "\n".join(f"  {choice.key:<12}{choice.help or choice.verb}" for choice in choices)
        if self._items[self._number].files:
            keys += f"\n  {'e':<12}edit in your editor"
        if any(choice.has_reason for choice in choices):
            keys += f"\n  {'m':<12}write the reason of the decision"
        self.push_screen(Message(HELP.format(choices=keys)))

    def action_leave(self) -> None:
        """Ask whether to apply what was decided, and leave."""
        made = self.decisions.made()
        if not made:
            self.exit({})
            return
        counts = Counter(", ".join(_words(decision)) for decision in made.values())
        shown = "; ".join(f"{words}: {number}" for words, number in counts.items())
        question = f"Apply what you decided ({shown})?  y yes  n no, discard  Esc back"

        def leave(key: str | None) -> None:
            if key in {"y", "n"}:
                self.exit(made if key == "y" else {})

        self.push_screen(Message(question, keys=("y", "n", "escape")), leave)

    def action_abort(self) -> None:
        """Leave without anything."""
        self.exit(None)

    @property
    def failure(self) -> Exception | None:
        """The error that ended the view."""
        return self._exception

    def _fatal_error(self) -> None:
        # textual would print the variables of each function, with what documents contain
        self._close_messages_no_wait()

    @property
    def _list(self) -> OptionList:
        return self.query_one("#items", OptionList)

    @property
    def _number(self) -> int:
        return self._list.highlighted or 0

    def _ask(self, choice: Choice, number: int) -> None:
        before = self.decisions[number]
        text = before.text if before.choice == choice else choice.text

        def decide(answer: str | None) -> None:
            if answer is None:
                return
            if wrong := choice.check(answer):
                self._tell(wrong)
                return
            self.decisions.choose(number, choice, answer)
            self._go_on(number)

        self.push_screen(Question(choice.prompt or "Reason", text), decide)

    def _go_on(self, number: int) -> None:
        self._relabel(number)
        if number + 1 < len(self._items):
            self._list.highlighted = number + 1
        else:
            self._show(is_new=False)

    def _tell(self, sentence: str) -> None:
        self.push_screen(Message(f"{printable(sentence)}\nPress any key to go on."))

    def _relabel(self, number: int) -> None:
        label = _label(self._items[number], self.decisions[number], is_shown=number == self._number)
        self._list.replace_option_prompt_at_index(number, label)

    def _show(self, *, is_new: bool) -> None:
        """Show the item: its panes, from the top if it is another one, and what can be done."""
        number = self._number
        item, decision = self._items[number], self.decisions[number]
        self._relabel(number)
        made = len(self.decisions.made())
        decided = f", {made} decided" if made else ""
        position = f"{number + 1} of {len(self._items)}{decided}"
        self.query_one("#title", Static).update(Content(f"{self._title}  {position}"))
        try:
            panes = item.panes(decision)
        except UbpError as error:
            panes = Panes(item.name, joined(map(printable, (error.message, error.hint))))
        for name, title, text in (
            ("page", panes.page_title, panes.page),
            ("source", panes.source_title, panes.source),
        ):
            pane = self.query_one(f"#{name}-pane", VerticalScroll)
            pane.border_title = Content(
                fit_end(title, TITLE_WIDTH)
            )  # a text would be read as markup
            pane.set_class(not text, "-empty")
            self.query_one(f"#{name}", Static).update(_content(text))
            if is_new:
                pane.scroll_home(animate=False)
        keys = [f"{choice.key} {choice.verb}" for choice in item.choices]
        keys += ["e edit"] if item.files else []
        keys += ["s skip", "? help", "q finish" if made else "q quit"]
        keys += ["u undo"] if self.decisions.has_steps else []
        keys += ["m why"] if decision.choice and decision.choice.has_reason else []
        self.query_one("#keys", Static).update(Content("  ".join(keys)))


class Message(ModalScreen[str]):
    """A text below the list, until one of the keys is pressed; without keys, any."""

    CSS = """
    Message { align: left bottom; }
    #message { height: auto; width: 1fr; border-top: solid ansi_default; background: ansi_default; }
    """

    def __init__(self, text: str, keys: tuple[str, ...] = ()) -> None:
        super().__init__()
        self._text, self._keys = text, keys

    def compose(self) -> ComposeResult:
        """Yield the text."""
        yield Static(Content(self._text), id="message", markup=False)

    def on_key(self, event: events.Key) -> None:
        """Close with a key that was waited for; the others do nothing."""
        event.stop()
        if self.is_current and (not self._keys or event.key in self._keys):
            self.dismiss(event.key)


class Question(ModalScreen[str | None]):
    """A line to type; Enter alone answers with `text`, and Esc leaves it without an answer."""

    CSS = """
    Question { align: left bottom; }
    #question { height: 2; width: 1fr; border-top: solid ansi_default; background: ansi_default; }
    #answer { border: none; padding: 0; height: 1; background: ansi_default; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "dismiss", show=False)]

    def __init__(self, prompt: str, text: str) -> None:
        super().__init__()
        self._prompt, self._text = prompt, text
        self._early = ""

    def compose(self) -> ComposeResult:
        """Yield the prompt and the line."""
        yield Static(Content(f"{self._prompt} (Esc: back)"), id="question", markup=False)
        yield Input(placeholder=self._text, id="answer")

    def on_key(self, event: events.Key) -> None:
        """Keep what is typed before the line has the focus."""
        if self.focused is not None or not self.is_current:
            return
        if event.key == "enter":
            self.dismiss(self._early.strip() or self._text)
        elif event.character and event.is_printable:
            self._early += event.character
            for line in self.query(Input):
                line.value = self._early

    def on_mount(self) -> None:
        """Begin the line with what was typed before it was there."""
        self.query_one(Input).value = self._early

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """Answer with what was typed."""
        if self.is_current:
            self.dismiss(event.value.strip() or self._text)


def run_screen(
    title: str, items: Sequence[Item], edit: Callable[[Files], Files], *, has_color: bool
) -> dict[int, Decision]:
    """Show the items until the user leaves, and return what to apply, by number of the item.

    Raises:
        KeyboardInterrupt: the user left with Ctrl-C.
    """
    if not has_color:
        os.environ["NO_COLOR"] = "1"  # textual reads no other setting
    app = ReviewApp(title, items, edit)
    decided = app.run()
    if app.failure is not None:
        raise app.failure
    if decided is None:
        raise KeyboardInterrupt
    return decided


def _label(item: Item, decision: Decision, *, is_shown: bool) -> Content:
    detail = fit(", ".join(_words(decision)) or item.detail, LIST_WIDTH - 4)
    mark = "> " if is_shown else "  "  # where there are no colors
    name = fit_end(item.name, LIST_WIDTH - len(mark))
    return Content.assemble((f"{mark}{name}", "bold"), f"\n    {detail}")


def _words(decision: Decision) -> list[str]:
    """Return what was decided: `accepted`, `edited`."""
    past = [decision.choice.past] if decision.choice else []
    return [*past, *(["edited"] if decision.edited else [])]


def _content(text: str) -> Content:
    """Return a text with the colors that a Writer gave it."""
    lines = text.split("\n")
    shown = lines[:MAX_LINES]
    if more := len(lines) - len(shown):
        shown.append(f"and {count(more, 'more line')}")
    return Content.from_rich_text(Text.from_ansi("\n".join(shown), tab_size=TAB)).expand_tabs(TAB)
