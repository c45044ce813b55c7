"""Playing recorded scenarios of commands against a real agent."""

import contextlib
import difflib
import os
import re
import shlex
import signal
import subprocess
import sys
import time
import urllib.parse
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

from tests.cli.command_line import substitute
from tests.cli.transcripts import Step, Transcript, read_transcript
from tests.support.pseudo_terminal import on_terminal
from tests.support.real_agent import RealAgent

SETTLE_TIMEOUT_S = 60.0
COMMAND_TIMEOUT_S = 120.0
MONITOR_LINES = 2
# In these scenarios tasks fail and are tried again for minutes before the recording goes on.
RETRIES_LEFT_OUT = {
    "job-dispatch": (
        'group "work" {',
        'group "work" {\n restart { attempts = 0 }\n reschedule {\n attempts = 0\n unlimited = false\n }',
    ),
}
# Here we do better: an empty list is an empty list for programs, too.
BETTER = frozenset({("job-prefix", "yurt job status -json")})
PROMPT = r"\[y/N\]"


class Played(NamedTuple):
    """A recorded step and what our program did."""

    step: Step
    command: str
    stdout: str
    stderr: str
    exit_code: int


class ScenarioPlayer:
    """Plays recorded scenarios against an agent, each on an empty cluster."""

    def __init__(self, agent: RealAgent) -> None:
        self._agent = agent

    def wait(self, path: str, accepts: Callable[[Any], Any]) -> Any:  # any JSON
        """Ask until the answer is accepted, and give it."""

        def is_so(found: Any) -> bool:
            with contextlib.suppress(LookupError, TypeError):
                return bool(accepts(found))
            return False

        return self._agent.wait_for(path, is_so, SETTLE_TIMEOUT_S)

    def clear(self) -> None:
        """Purge every job and variable, so that the next scenario starts on an empty cluster."""
        for variable in self._agent.call("GET", "/v1/vars").json:
            self._agent.call("DELETE", f"/v1/var/{variable['Path']}")
        for job in self._agent.call("GET", "/v1/jobs").json:
            self._agent.call("DELETE", f"/v1/job/{urllib.parse.quote(job['ID'], safe='')}?purge=true")
        self.wait("/v1/jobs", lambda found: not found)

        def is_collected(evaluations: Any) -> bool:
            if evaluations:
                self._agent.call("PUT", "/v1/system/gc")
            return not evaluations

        self.wait("/v1/evaluations", is_collected)
        self.wait("/v1/services", lambda found: not found)

    def play(self, scenario: str, directory: Path, *, until: str = "") -> Iterator[Played]:
        """Play a recorded scenario step by step, up to the command `until`."""
        transcript: Transcript = read_transcript(scenario)
        for name, text in transcript.files.items():
            (directory / name).write_text(text.replace(*RETRIES_LEFT_OUT.get(scenario, ("", ""))))
        variables: dict[str, str] = {}
        last_output = ""
        for step in transcript.steps:
            if until and step.command == until:
                return
            if step.command.startswith("@ "):
                self._between(substitute(step.command, variables), variables, last_output)
                continue
            if (scenario, step.command) in BETTER:
                continue
            played = self.run(step, directory, variables)
            last_output = played.stdout
            yield played

    def _between(self, text: str, variables: dict[str, str], last_output: str) -> None:
        if wait := re.match(r"@ wait GET (\S+) (.*) (==|>=) (\S+)$", text):
            _, path, selector, operator, value = wait.group(0, 1, 2, 3, 4)
            if operator == ">=":
                self.wait(path, lambda found: len(found) >= int(value))
            else:
                self.wait(path, lambda found: str(select(found, selector)) == value)
        elif let := re.match(r"@ let (\w+) = GET (\S+) (\S+)$", text):
            name, path, selector = let.groups()
            variables[name] = str(select(self.wait(path, lambda found: select(found, selector)), selector))
        elif let := re.match(r"@ let (\w+) = LAST (.*)$", text):
            found = re.search(let[2], last_output, re.MULTILINE)
            assert found is not None, f"{let[2]!r} is not in the last output:\n{last_output}"
            variables[let[1]] = found[1]
        elif text == "@ token management":
            self._agent.token = variables["MGMT"]
        elif pause := re.match(r"@ sleep ([\d.]+)$", text):
            # The recording waits for the cluster to settle here, and so must a replay of it.
            time.sleep(float(pause[1]))

    def run(self, step: Step, directory: Path, variables: dict[str, str]) -> Played:
        """Run one recorded command in a process of its own."""
        command = substitute(step.command, variables)
        words = shlex.split(command)
        program = words.index("yurt")
        environment = {
            name: value for name, value in os.environ.items() if not name.startswith(("YURT_", "NOMAD_"))
        }
        # The recorded agent has a web UI that its commands point to.
        environment |= {"NOMAD_ADDR": self._agent.address, "TZ": "UTC", "NOMAD_CLI_SHOW_HINTS": "true"}
        if self._agent.token:
            environment["NOMAD_TOKEN"] = self._agent.token
        given = dict(word.split("=", 1) for word in words[:program])
        if "NOMAD_TOKEN" in given:
            # Such tokens may not read the agent's configuration, which says whether there is a web UI.
            del environment["NOMAD_CLI_SHOW_HINTS"]
        environment |= given
        options = dict(option.partition(" ")[::2] for option in step.options)
        arguments = [sys.executable, "-m", "yurt.cli.main", *words[program + 1 :]]
        stdin: str | None = options.get("stdin", "").replace("\\n", "\n")
        if "terminal" in options:
            with on_terminal(
                arguments, environment=environment, directory=directory, lines=50, columns=200
            ) as terminal:
                if stdin:
                    terminal.wait_for(PROMPT)
                    terminal.type(stdin)
                exit_code = terminal.wait_for_end(COMMAND_TIMEOUT_S)
                return Played(step, command, terminal.output.decode().replace("\r\n", "\n"), "", exit_code)
        process = subprocess.Popen(
            arguments,
            cwd=directory,
            env=environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        if "stop-after" in options:
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.communicate(stdin, timeout=float(options["stop-after"]))
            process.send_signal(signal.SIGINT)
            stdin = None
        stdout, stderr = process.communicate(stdin, timeout=COMMAND_TIMEOUT_S)
        return Played(step, command, stdout, stderr, process.returncode)


def select(value: Any, selector: str) -> Any:  # any JSON
    """Follow a selector: `A.B`, `[0].ID`, `[Status=running].ID`."""
    for name, condition in re.findall(r"([^.\[\]]+)|\[([^\]]+)\]", selector):
        if name:
            value = value[name]
        elif "=" in condition:
            key, _, wanted = condition.partition("=")
            value = [item for item in value if str(item[key]) == wanted][0]  # noqa: RUF015 # a LookupError if none
        else:
            value = value[int(condition)]
    return value


_VOLATILE = (
    (r"^No server is reachable at .*\n", ""),
    (r"^(The token in use (has too few rights|is not known)|No token was given).*\n", ""),
    (r"http://127\.0\.0\.1:\d+", "ADDRESS"),
    (r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}", "UUID"),
    (r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(\.\d+)?(Z| \+0000 UTC)", "TIME"),
    (r"\b[0-9a-f]{8}\b", "ID"),
    (r"(\d+(\.\d+)?(y|mo|d|h|m|s|ms|µs))+ (ago|from now)", "AGE"),
    (r"^(Uptime|Allocation Time) += \S+$", r"\1 = TOOK"),
    (r"(periodic|dispatch)-\d{10}(-ID)?", r"\1-SUFFIX"),
    (r"(?i)(index\"?:?|check-index|index +=|state value) [1-9]\d*", r"\1 N"),
    (r"(Time\"?:?) \d{19}", r"\1 NS"),
    (r"(_time +=) \d{19}", r"\1 NS"),
    (r"(index \(|check-index=)[1-9]\d*", r"\1N"),
    (r"\b\d+\.\d+\.\d+\.\d+:\d{4,5}", "HOST:PORT"),
    (r"/home/me/jobs|/\S+(?=/missing)", "CWD"),
    (r"stat /\S*/UUID/", "stat ALLOC/"),
    (r"\d+/\d+ MHz", "CPU"),
    (r"[\d.]+ [KMG]?i?B/[\d.]+ [KMG]iB", "MEMORY"),
    (r"0\.\d{2,}", "SCORE"),
    (r"2\.0\.6(-dev)?", "VERSION"),
    # Whether a monitor sees an allocation between its mark and its end depends on timing.
    (r'^TIME: Alloc "UUID" draining\n', ""),
    (r"( ?, ?)?\b(exec|java|mock_driver|raw_exec|docker|qemu)\b(,\w+)*", "DRIVERS"),
)


def normalised(text: str) -> str:
    """A text with everything that differs from run to run replaced, and runs of blanks made one."""
    for pattern, replacement in _VOLATILE:
        text = re.sub(pattern, replacement, text, flags=re.MULTILINE)
    return "\n".join(re.sub(r" +", " ", line).rstrip() for line in text.split("\n"))


def differences(played: Played) -> str:
    """Say how a command differed from its recording, in what is the same on every run; empty if not."""
    step = played.step
    found = []
    if played.exit_code != step.exit_code and not any(
        option.startswith("stop-after") for option in step.options
    ):
        found.append(f"exit code {played.exit_code}, recorded {step.exit_code}")
    streams = [("stderr", step.stderr, played.stderr)]
    if "omit stdout" not in step.options:
        streams.append(("stdout", step.stdout, played.stdout))
    for name, recorded, printed in streams:
        wanted, got = normalised(recorded).split("\n"), normalised(printed).split("\n")
        if "unordered" in step.options:
            wanted, got = sorted(wanted), sorted(got)
        if "monitor" in step.options and name == "stdout":
            # Which states a monitor catches depends on timing; how it starts does not.
            wanted, got = wanted[:MONITOR_LINES], got[:MONITOR_LINES]
        if wanted != got:
            found += [f"{name}:", *difflib.unified_diff(wanted, got, "recorded", "printed", lineterm="")]
    return "\n".join([f"$ {played.command}", *found]) if found else ""
