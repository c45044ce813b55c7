"""`yurt job plan`: what running a job file would change."""

import json
from collections import Counter
from collections.abc import Sequence
from typing import Annotated

from yurt.cli.command import PROGRAM, Command, Session
from yurt.cli.console import BOLD, GREEN, RESET, YELLOW
from yurt.cli.diff_view import DiffView
from yurt.cli.errors import CommandError, UsageError, failing_as
from yurt.cli.job_file import JobFileOptions, load_job
from yurt.cli.job_warnings import show_warnings
from yurt.cli.layout import table
from yurt.cli.machine_output import json_text, template_text
from yurt.cli.options import Flag
from yurt.cli.placement import failed_count, reasons
from yurt.cli.times import launch_time, time_of
from yurt.sdk import jobs
from yurt.sdk.types.allocs import AllocStub
from yurt.sdk.types.diffs import FieldDiff, ObjectDiff, TaskDiff
from yurt.sdk.types.jobs import Planned

EXIT_NOT_PLANNED = 255
EXIT_CHANGES = 1
# With -detailed-exitcode, as Terraform and others have it.
EXIT_DETAILED_FAILURE = 1
EXIT_DETAILED_CHANGES = 2
PREEMPTIONS_LISTED_MAX = 10
BOOKKEEPING = frozenset({"ID", "CreateIndex", "ModifyIndex"})


class Options(JobFileOptions, frozen=True, kw_only=True):
    """The flags of `job plan`."""

    diff: Annotated[
        bool,
        Flag("diff", "Whether the difference to the registered job is shown. Default = true"),
    ] = True
    policy_override: Annotated[
        bool, Flag("policy-override", "Sets the flag to force override any soft mandatory policies.")
    ] = False
    vault_namespace: Annotated[
        str | None, Flag("vault-namespace", "The Vault namespace to set for the job.", "<namespace>")
    ] = None
    detailed_exitcode: Annotated[
        bool,
        Flag(
            "detailed-exitcode",
            "Exit with 0 when nothing would change, 2 when something would, in place updates included, "
            "and 1 when the plan cannot be made.",
        ),
    ] = False
    verbose: Annotated[bool, Flag("verbose", "Increase diff verbosity.")] = False
    json_output: Annotated[bool, Flag("json-output", "Output the plan in JSON format.")] = False
    template: Annotated[
        str | None, Flag("t", "Format and display the plan using a Go template.", "<template>")
    ] = None


def run(session: Session, options: Options, arguments: Sequence[str]) -> int:
    """Plan a job."""
    if len(arguments) != 1:
        raise UsageError("This command takes one argument: <path>")
    if options.json_output and options.template is not None:
        raise CommandError("Both -json-output and -t formatting are not allowed", exit_code=EXIT_NOT_PLANNED)
    try:
        return _plan(session, options, arguments[0])
    except CommandError as error:
        code = EXIT_DETAILED_FAILURE if options.detailed_exitcode else EXIT_NOT_PLANNED
        raise CommandError(str(error), exit_code=code) from error


def _plan(session: Session, options: Options, path: str) -> int:
    loaded = load_job(session, path, options)
    if options.vault_namespace is not None:
        loaded.job["VaultNamespace"] = options.vault_namespace
    with failing_as("Error during plan"):
        answer = jobs.plan(
            loaded.client(session.client),
            loaded.job,
            diff=options.diff or options.detailed_exitcode,
            policy_override=options.policy_override,
        )
    planned = answer.value
    code = detailed_exit_code_of(planned) if options.detailed_exitcode else exit_code_of(planned)
    console = session.console
    if options.json_output:
        console.output(json_text(json.loads(answer.body)))
        return code
    if options.template is not None:
        console.output(template_text(options.template, json.loads(answer.body)))
        return code
    if planned.diff is not None and options.diff:
        console.output(DiffView(console, verbose=options.verbose).job(planned.diff) + "\n")
    _show_dry_run(session, planned, job_type=str(loaded.job.get("Type") or "service"))
    show_warnings(console, planned.warnings)
    _show_preemptions(session, planned)
    _show_index(session, planned, options, path)
    return code


def exit_code_of(planned: Planned) -> int:
    """1 when allocations would be made or destroyed, else 0.

    A job that does not differ from the registered one counts as unchanged, even when it still waits for room.
    """
    if planned.diff is not None and planned.diff.type == "None":
        return 0
    groups = planned.annotations.desired_tg_updates.values() if planned.annotations else ()
    changes = sum(
        group.stop + group.place + group.migrate + group.destructive_update + group.canary for group in groups
    )
    return EXIT_CHANGES if changes else 0


def detailed_exit_code_of(planned: Planned) -> int:
    """2 when the job differs from the registered one in anything."""
    assert planned.diff is not None, "the diff is always asked for"
    diff = planned.diff
    parts: list[FieldDiff | ObjectDiff | TaskDiff] = [*diff.fields, *diff.objects]
    whole = [diff.type]
    for group in diff.task_groups:
        parts += [*group.fields, *group.objects, *group.tasks]
        whole.append(group.type)
    is_changed = any(part.type != "None" and not _is_bookkeeping(part) for part in parts)
    return EXIT_DETAILED_CHANGES if is_changed or {*whole} & {"Added", "Deleted"} else 0


def _is_bookkeeping(part: FieldDiff | ObjectDiff | TaskDiff) -> bool:
    """Whether nothing but a policy's own id and indexes differ, which they do in every plan."""
    return (
        isinstance(part, ObjectDiff)
        and part.name == "Scaling"
        and not any(inner.type != "None" for inner in part.objects)
        and all(field.name in BOOKKEEPING for field in part.fields if field.type != "None")
    )


def _show_dry_run(session: Session, planned: Planned, *, job_type: str) -> None:
    console = session.console
    end = console.paint("", RESET)
    console.output(console.bold("Scheduler dry-run:") + end)
    if not planned.failed_tg_allocs:
        console.output(console.paint("- All tasks successfully allocated.", BOLD, GREEN) + end)
    else:
        where = "allocations on all nodes" if job_type in {"system", "sysbatch"} else "all allocations"
        console.output(console.paint(f"- WARNING: Failed to place {where}.", BOLD, YELLOW) + end)
        for group, metric in sorted(planned.failed_tg_allocs.items()):
            console.output(f'  Task Group "{group}" (failed to place {failed_count(metric)}):')
            for line in reasons(console, metric, indent="    "):
                console.output(line)
    launch = time_of(planned.next_periodic_launch)
    if launch:
        moment = launch_time(launch, session.now())
        console.output(f"- If submitted now, next periodic launch would be at {moment}.")
    console.output("")


def _show_preemptions(session: Session, planned: Planned) -> None:
    preempted = planned.annotations.preempted_allocs if planned.annotations else ()
    if preempted:
        session.console.output(session.console.paint("Preemptions:", BOLD, YELLOW) + "\n")
        session.console.output(_preemptions(preempted))


def _preemptions(preempted: Sequence[AllocStub]) -> str:
    """List allocations, or count them by job or by type when there are many."""
    if len(preempted) < PREEMPTIONS_LISTED_MAX:
        rows = [[alloc.id, alloc.job_id, alloc.task_group] for alloc in preempted]
        return table([["Alloc ID", "Job ID", "Task Group"], *rows])
    by_job = Counter((alloc.job_id, alloc.namespace, alloc.job_type) for alloc in preempted)
    if len(by_job) < PREEMPTIONS_LISTED_MAX:
        counted = [[*job, count] for job, count in sorted(by_job.items())]
        return table([["Job ID", "Namespace", "Job Type", "Preemptions"], *counted])
    by_type = Counter(alloc.job_type for alloc in preempted)
    return table([["Job Type", "Preemptions"], *([kind, count] for kind, count in sorted(by_type.items()))])


def _show_index(session: Session, planned: Planned, options: Options, path: str) -> None:
    flags = [f"-check-index {planned.job_modify_index}"]
    if options.namespace is not None:
        flags.append(f'-namespace="{options.namespace}"')
    flags += [f'-var="{variable}"' for variable in options.variables]
    flags += [f'-var-file="{file}"' for file in options.variable_files]
    if not options.hcl2_strict:
        flags.append("-hcl2-strict=false")
    console = session.console
    index = console.bold(f"Job Modify Index: {planned.job_modify_index}")
    console.output(
        f"{console.paint('', RESET)}{index}\n"
        "To submit the job with version verification run:\n\n"
        f"{PROGRAM} job run {' '.join(flags)} {path}\n\n"
        "When running the job with the check-index flag, the job will only be run if the\n"
        "job modify index given matches the server-side version. If the index has\n"
        "changed, another user has modified the job and the plan's results are\n"
        f"potentially invalid.{console.paint('', RESET)}"
    )


COMMAND = Command(
    path="job plan",
    aliases=("plan",),
    options=Options,
    run=run,
    usage="[options] <path>",
    description="""
        Plan invokes a dry-run of the scheduler to determine the effects of submitting either a new or
        updated version of a job. The plan will not result in any changes to the cluster but gives insight
        into whether the job could be run successfully and how it would affect existing allocations.

        A job modify index is returned with the plan. This value can be used when submitting the job using
        'yurt job run -check-index', which will check that the job was not modified between the plan and
        run command before invoking the scheduler.

        If the supplied path is "-", the job file is read from stdin. Otherwise it is read from the file
        at the supplied path or downloaded from the given http or https address.

        Plan will return one of the following exit codes:

          * 0: No allocations created or destroyed.
          * 1: Allocations created or destroyed.
          * 255: Error determining plan results.

        With -detailed-exitcode these are 0 for no change at all, 2 for any change and 1 for an error.

        When ACLs are enabled, this command requires a token with the 'submit-job' or 'plan-job'
        capability for the job's namespace.
    """,
    usage_exit_code=EXIT_NOT_PLANNED,
)
