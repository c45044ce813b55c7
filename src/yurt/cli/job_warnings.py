"""What the server remarks about a job that it accepts."""

from yurt.cli.console import BOLD, YELLOW, Console


def show_warnings(console: Console, warnings: str) -> None:
    """Print the server's warnings, if there are any, and an empty line."""
    if warnings:
        console.output(console.paint(f"Job Warnings:\n{warnings}", BOLD, YELLOW) + "\n")
