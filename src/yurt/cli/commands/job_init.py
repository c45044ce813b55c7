"""`yurt job init`: write an example job file."""

from collections.abc import Sequence
from typing import Annotated

from yurt.cli.command import Command, Session
from yurt.cli.errors import CommandError, UsageError, failing_as
from yurt.cli.new_file import write_new_file
from yurt.cli.options import Flag, GeneralOptions
from yurt.sdk import variables

DEFAULT_PATH = "example.nomad.hcl"
TEMPLATES_PATH = "nomad/job-templates"
SHORT_EXAMPLE = """\
job "example" {
  group "web" {
    network {
      port "http" {}
    }

    task "server" {
      driver = "raw_exec"

      config {
        command = "/usr/bin/env"
        args    = ["python3", "-m", "http.server", "${NOMAD_PORT_http}"]
      }

      resources {
        cpu    = 100
        memory = 64
      }
    }
  }
}
"""
EXAMPLE = """\
# A job is what you want to run. It has one or more groups; the tasks of a
# group run together on one node.
job "example" {
  # service: runs until stopped. batch: runs until done. system: on every node.
  type = "service"

  # Higher priority work is placed first. 1 to 100.
  priority = 50

  # How a new version replaces the old one.
  update {
    # How many allocations are replaced at once.
    max_parallel = 1

    # How long an allocation must be healthy before the next one is replaced.
    min_healthy_time = "10s"

    # Go back to the last stable version when the new one does not come up.
    auto_revert = true
  }

  group "web" {
    # How many instances of this group should run.
    count = 1

    network {
      # A port that the scheduler chooses; tasks see it as NOMAD_PORT_http.
      port "http" {}
    }

    # Before an instance stops, nobody is sent to it any more for this long.
    shutdown_delay = "1s"

    # Make the instances known under a name.
    service {
      name     = "example-web"
      port     = "http"
      provider = "nomad"

      check {
        type     = "tcp"
        interval = "10s"
        timeout  = "2s"
      }
    }

    # What happens when a task fails.
    restart {
      attempts = 2
      interval = "30m"
      delay    = "15s"
      mode     = "fail"
    }

    task "server" {
      driver = "raw_exec"

      config {
        command = "/usr/bin/env"
        args    = ["python3", "-m", "http.server", "${NOMAD_PORT_http}"]
      }

      env {
        GREETING = "hello"
      }

      # What the task needs: CPU in MHz, memory in MiB.
      resources {
        cpu    = 100
        memory = 64
      }
    }
  }
}
"""


class Options(GeneralOptions, frozen=True, kw_only=True):
    """The flags of `job init`."""

    short: Annotated[bool, Flag("short", "Write the example without comments.")] = False
    connect: Annotated[bool, Flag("connect", "Not offered: Yurt has no service mesh.", is_hidden=True)] = (
        False
    )
    template: Annotated[
        str, Flag("template", "Write a template that is stored as a variable instead.", "<name>")
    ] = ""
    list_templates: Annotated[bool, Flag("list-templates", "List the stored templates.")] = False


def run(session: Session, options: Options, arguments: Sequence[str]) -> int:
    """Write an example."""
    if len(arguments) > 1:
        raise UsageError("This command takes no arguments or one: <filename>")
    if options.list_templates:
        return _list(session)
    if options.connect:
        raise CommandError(
            "There is no example with Consul Connect: Yurt has no service mesh. Leave -connect out."
        )
    path = arguments[0] if arguments else DEFAULT_PATH
    text = SHORT_EXAMPLE if options.short else EXAMPLE
    if options.template:
        text = _stored(session, options.template)
    write_new_file(path, text)
    session.console.output(f"Example job file written to {path}")
    return 0


def _list(session: Session) -> int:
    with failing_as("Error retrieving job templates from the server"):
        found = variables.listing(session.client, prefix=f"{TEMPLATES_PATH}/").value
    names = sorted(variable.path.removeprefix(f"{TEMPLATES_PATH}/") for variable in found)
    session.console.output("\n".join(names) if names else "No job templates found")
    return 0


def _stored(session: Session, name: str) -> str:
    with failing_as("Error retrieving job template from the server"):
        items = variables.read(session.client, f"{TEMPLATES_PATH}/{name}").value.items
    if "template" not in items:
        raise CommandError(f"Job template {name!r} is missing the item 'template'")
    return items["template"]


COMMAND = Command(
    path="job init",
    aliases=("init",),
    options=Options,
    run=run,
    usage="[options] <filename>",
    description="""
        Creates an example job file that can be used as a starting point to customize further. If no
        filename is given, the default of "example.nomad.hcl" will be used. Both examples, the short one and
        the one with comments, run as they are on a development agent: 'yurt run example.nomad.hcl'.
    """,
)
