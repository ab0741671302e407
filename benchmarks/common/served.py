"""What benchmarks of the server share: a server with an empty tool, and a client of lines.

    python benchmarks/common/served.py REPOSITORY [SECONDS]

serves like `ubp serve`, and offers a tool that does nothing. A call may take so many seconds before
the answer is that the index is not ready.
"""

import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple, Self

TICKS = os.sysconf("SC_CLK_TCK") if hasattr(os, "sysconf") else 100
EMPTY = "empty"
VERSION = "2025-11-25"


class Nothing(NamedTuple):
    """An empty record."""


@dataclass(frozen=True, slots=True)
class NoArguments:
    """A request without arguments."""


def main() -> None:
    """Serve a repository."""
    from ubp.server import process
    from ubp.server.tools.registry import select_tools
    from ubp.server.tools.tool import Tool

    empty = Tool(
        name=EMPTY,
        title="Nothing",
        description="Answers at once.",
        request=NoArguments,
        record=Nothing,
        run=lambda _, __: Nothing(),
        text=lambda _: "",
    )
    if len(sys.argv) > len(["served.py", "REPOSITORY"]):
        process.Scheduler.__init__.__defaults__ = (float(sys.argv[2]),)
    process.serve_repositories(
        [sys.argv[1]],
        process.ServeOptions((*select_tools(), empty), is_structured=True),
        environment=os.environ,
    )


class Failed(Exception):  # noqa: N818 - an answer, not a fault of this program
    """The server answered with an error: its code and message."""


class Client:
    """Asks one thing after the other, line by line."""

    def __init__(
        self, root: Path, errors: Path | None = None, *, seconds_to_wait: float | None = None
    ) -> None:
        """Start a server and shake hands."""
        environment = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
        self._errors = open(errors or os.devnull, "ab")  # noqa: SIM115  # closed in `close`
        self.process = subprocess.Popen(
            [
                *(sys.executable, __file__, str(root)),
                *([] if seconds_to_wait is None else [str(seconds_to_wait)]),
            ],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._errors,
            env=environment,
        )
        self._number = 0
        info = {"name": "benchmark", "version": "1"}
        self.ask("initialize", protocolVersion=VERSION, capabilities={}, clientInfo=info)
        self.say({"jsonrpc": "2.0", "method": "notifications/initialized"})

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def call(self, tool: str, **arguments: Any) -> dict[str, Any]:
        """A tool's structured answer; Failed where it is an error."""
        answer = self.ask("tools/call", name=tool, arguments=arguments)
        if answer.get("isError"):
            error = answer["_meta"]["ubp/error"]
            raise Failed(error["code"], error["message"])
        record: dict[str, Any] = answer["structuredContent"]
        return {**record, "text": answer["content"][0]["text"]}

    def ask(self, method: str, **params: Any) -> dict[str, Any]:
        """The result of a request; Failed where it is an error."""
        self._number += 1
        self.say({"jsonrpc": "2.0", "id": self._number, "method": method, "params": params})
        answer = self.hear()
        if answer.get("id") != self._number:
            raise SystemExit(f"{method}: out of turn: {answer}")
        if "error" in answer:
            raise Failed(answer["error"]["code"], answer["error"]["message"])
        result: dict[str, Any] = answer["result"]
        return result

    def say(self, message: dict[str, Any] | bytes) -> None:
        """Send a message, or a line as it is."""
        line = message if isinstance(message, bytes) else json.dumps(message).encode()
        assert self.process.stdin
        self.process.stdin.write(line + b"\n")
        self.process.stdin.flush()

    def hear(self) -> dict[str, Any]:
        """The next message."""
        assert self.process.stdout
        line = self.process.stdout.readline()
        if not line:
            raise SystemExit(f"the server has left with {self.process.wait()}")
        message: dict[str, Any] = json.loads(line)
        return message

    def cpu_ms(self) -> float:
        """What the server has used so far, with the programs that it started."""
        fields = Path(f"/proc/{self.process.pid}/stat").read_text().rsplit(") ", 1)[1].split()
        return sum(map(int, fields[11:15])) * 1000 / TICKS

    def memory_mb(self) -> float:
        """What the server holds in memory now, without what it has mapped of files."""
        for line in Path(f"/proc/{self.process.pid}/status").read_text().splitlines():
            if line.startswith("RssAnon"):
                return int(line.split()[1]) / 1024
        return 0.0

    def descriptors(self) -> int:
        """How many files the server has open."""
        return len(os.listdir(f"/proc/{self.process.pid}/fd"))

    def close(self) -> int:
        """Hang up, and return the exit status."""
        assert self.process.stdin
        assert self.process.stdout
        self.process.stdin.close()
        self.process.stdout.read()
        self.process.stdout.close()
        self._errors.close()
        return self.process.wait()


if __name__ == "__main__":
    main()
