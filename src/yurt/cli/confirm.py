"""Asking before something is done that cannot be undone."""

from yurt.cli.command import Session
from yurt.cli.errors import EXIT_FAILURE


def confirm(session: Session, question: str, *, cancelled: str) -> int | None:
    """Ask a yes-or-no question. None means yes; otherwise the exit code of the command that is not run.

    Only a lone lower-case `y` means yes, so that nothing is done by a word typed for another prompt.
    """
    answer = session.console.ask(f"{question} [y/N]")
    if answer == "y":
        return None
    if not answer or answer.lower().startswith("n"):
        session.console.output(cancelled)
        return 0
    if answer.lower().startswith("y") and len(answer) > 1:
        session.console.output("For confirmation, an exact ‘y’ is required.")
        return 0
    session.console.output("No confirmation detected. For confirmation, an exact 'y' is required.")
    return EXIT_FAILURE
