"""The line that points to the web UI."""

from http import HTTPStatus
from urllib.parse import quote

from yurt.cli.command import Session
from yurt.cli.console import BLUE, BOLD, MAGENTA, RESET
from yurt.cli.options import is_true
from yurt.sdk import SdkError, agent

# What an agent without a web UI serves in its place.
DISABLED_PAGE = b"UI is disabled"


def show_hint(
    session: Session, text: str, path: str, *, opens: bool = False, more_follows: bool = False
) -> None:
    """Print `text` and the address of a page of the web UI, unless hints are off; `opens` also opens it.

    The environment decides first, then the agent; an agent that may not be asked, or that serves no web UI,
    gives no hint.
    `more_follows` keeps the line apart from a monitor's output.
    """
    url = f"{session.client.address}/ui/{path}"
    if opens:
        open_in_browser(session, url)
    if not _are_hints_on(session):
        return
    console = session.console
    if console.colours:
        console.warn(f"{BOLD}{MAGENTA}\n==> {text}:{RESET} {BLUE}{url}{RESET}")
    else:
        console.warn(f"\n\n==> {text}: {url}" + ("\n" if more_follows else ""))


def open_in_browser(session: Session, url: str) -> bool:
    """Open a page in the person's browser, and say so when there is none."""
    import webbrowser  # noqa: PLC0415 # rarely needed, and slow to import

    if webbrowser.open(url):
        return True
    session.console.error(f"No browser could be opened; visit {url}")
    return False


def job_page(job_id: str, namespace: str) -> str:
    """The page of a job."""
    return f"jobs/{quote(job_id, safe='')}@{namespace or 'default'}"


def _are_hints_on(session: Session) -> bool:
    choice = is_true(session.environment, "CLI_SHOW_HINTS")
    if choice is not None:
        return choice
    try:
        ui = agent.read_self(session.client).value.config.ui
    except SdkError:
        return False
    return ui.enabled and ui.show_cli_hints and serves_ui(session)


def serves_ui(session: Session) -> bool:
    """Whether the agent has a web UI: its settings may allow one that its build does not have."""
    try:
        status, _, page = session.client.exchange("GET", "/ui/")
    except SdkError:
        return False
    return status < HTTPStatus.BAD_REQUEST and DISABLED_PAGE not in page
