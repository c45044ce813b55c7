"""The templates of one task: rendered before it starts, and again when their data changes."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Mapping, Sequence

import msgspec

from yurt.agent import task_paths
from yurt.agent.access.confined import PathEscapes, read_below, write_below
from yurt.agent.task_env import TaskEnv
from yurt.agent.task_paths import PathOutside, Place
from yurt.agent.task_runner.hook import TaskContext
from yurt.agent.templates.addresses import address_of
from yurt.agent.templates.data_watches import DataWatch, DataWatches
from yurt.agent.templates.env_file import BadEnvLine, read_env_file
from yurt.agent.templates.language import ParsedTemplate, TemplateFailed
from yurt.agent.templates.quiet import next_look, quiet_time, quiet_time_of_all
from yurt.agent.templates.rendering import RenderContext, Rendered, read_template, render
from yurt.agent.templates.sources import (
    ClusterQuery,
    FileQuery,
    Found,
    Known,
    OutsideFile,
    Query,
    followed_query,
)
from yurt.errors import YurtError
from yurt.model.task_parts import Template
from yurt.model.times import SECOND_NS

FILE_BYTES_MAX = 4 << 20
# Files that templates read have no one to tell of their changes.
FILE_LOOK_INTERVAL_S = 2.0
# People are told what a template waits for once it has waited for so long.
MISSING_TOLD_AFTER_S = 3.0
MISSING_TOLD_MAX = 3
PERMS_DEFAULT = 0o644


class BadTemplateSource(YurtError):
    """A template's source cannot be had, so that the task cannot start."""


class TemplateTrouble(YurtError):
    """A template cannot be rendered, ever; the task must end."""


class _Rendering(msgspec.Struct):
    """A template, and how far it is."""

    template: Template
    parsed: ParsedTemplate
    place: Place
    origin: str
    used: frozenset[Query] = frozenset()
    missing: tuple[str, ...] = ()
    text: str | None = None
    is_dirty: bool = True
    env: Mapping[str, str] = {}


class TaskTemplates:
    """Renders a task's templates and follows their data, until closed.

    `on_missing` is told what is waited for.
    """

    def __init__(self, context: TaskContext, watches: DataWatches, on_missing: Callable[[str], None]) -> None:
        self._context = context
        self._watches = watches
        self._on_missing = on_missing
        self._settings = context.node.settings.template
        self._news = asyncio.Event()
        self._followed: dict[Query, DataWatch | None] = {}
        self._files: dict[Query, Found] = {}
        self._renderings: list[_Rendering] = []

    @property
    def variables(self) -> dict[str, str]:
        """The variables of all `env` templates, in their order."""
        merged: dict[str, str] = {}
        for rendering in self._renderings:
            merged |= rendering.env
        return merged

    async def read(self, env: TaskEnv) -> None:
        """Read the templates themselves. Raises BadTemplateSource and TemplateTrouble."""
        self._renderings = [
            await self._read(template, env) for template in self._context.task.templates or ()
        ]

    async def render_first(self) -> list[Template]:
        """Render all, waiting for what they need; gives those whose files are not as they were.

        Raises TemplateTrouble.
        """
        changed: dict[int, Template] = {}
        told: tuple[str, ...] = ()
        while True:
            self._news.clear()
            changed |= await self._render_due(with_once=True)
            missing = tuple(sorted({name for each in self._renderings for name in each.missing}))
            if not missing:
                return list(changed.values())
            news = asyncio.ensure_future(self._wait_for_news())
            try:
                if missing != told and await self._context.node.sleep_until_done(MISSING_TOLD_AFTER_S, news):
                    self._on_missing(_missing_text(missing))
                    told = missing
                await news
            finally:
                news.cancel()

    async def next_changes(self) -> list[Template]:
        """Wait until data has changed and is quiet, render, and give the templates that changed.

        Raises TemplateTrouble.
        """
        while True:
            await self._wait_for_news()
            await self._settle()
            self._news.clear()
            changed = await self._render_due(with_once=False)
            if changed:
                return list(changed.values())

    @property
    def follows_data(self) -> bool:
        """Whether there is anything that could change."""
        return any(each.used and not each.template.once for each in self._renderings)

    def close(self) -> None:
        """Stop following data."""
        for watch in self._followed.values():
            if watch is not None:
                watch.close()
        self._followed.clear()

    # --- reading templates ----------------------------------------------------------------------------

    async def _read(self, template: Template, env: TaskEnv) -> _Rendering:
        text, origin = await self._source(template, env)
        try:
            place = task_paths.destination(template.dest_path, env, self._context.dir)
            parsed = read_template(text, left=template.left_delim, right=template.right_delim)
        except PathOutside as error:
            raise BadTemplateSource(str(error)) from error
        except TemplateFailed as error:
            raise TemplateTrouble(f"Template failed: {origin}: parse: {error}") from error
        return _Rendering(template=template, parsed=parsed, place=place, origin=origin)

    async def _source(self, template: Template, env: TaskEnv) -> tuple[str, str]:
        """The text of a template, and what errors call it."""
        if not template.source_path:
            return template.embedded_tmpl, "(dynamic)"
        if template.embedded_tmpl:
            raise BadTemplateSource("template: cannot specify both 'source' and 'contents'")
        directory = self._context.dir
        wanted = task_paths.host_env(env, directory).interpolate(template.source_path)
        try:
            if wanted.startswith("/") and self._settings.disable_file_sandbox:
                place = Place("/", wanted.lstrip("/"))
            else:
                place = task_paths.source(template.source_path, env, directory)
            content = await asyncio.to_thread(read_below, place.root, place.path, bytes_max=FILE_BYTES_MAX)
        except (PathEscapes, PathOutside) as error:
            raise BadTemplateSource(f"failed to read template: {error}") from error
        except OSError as error:
            # The path as the allocation shows it, and the words of a helper that is not used here.
            shown = place.full.removeprefix(directory.path.rpartition("/")[0])
            reason = (error.strerror or str(error)).lower()
            raise BadTemplateSource(
                f'failed to read template: exit status 1: failed to open source file "{shown}": '
                f"open {shown}: {reason}\n"
            ) from error
        return content.decode(errors="replace"), place.full

    # --- rendering ------------------------------------------------------------------------------------

    async def _render_due(self, *, with_once: bool) -> dict[int, Template]:
        """Render what is due and can be rendered; gives those whose files changed, by their number."""
        changed: dict[int, Template] = {}
        for number, rendering in enumerate(self._renderings):
            is_wanted = with_once or not rendering.template.once
            if rendering.is_dirty and is_wanted and await self._render(rendering):
                changed[number] = rendering.template
        self._drop_unused()
        return changed

    async def _render(self, rendering: _Rendering) -> bool:
        """Render until that is what the data says now; True when it changed the file."""
        while True:
            rendering.is_dirty = False
            known = self._known()
            result = await asyncio.to_thread(self._run, rendering, self._render_context(), known)
            rendering.used, rendering.missing = result.used, result.missing
            if self._follow_new(result.used):
                await self._look_at_files()
            if _part(self._known(), result.used) == _part(known, result.used):
                break
        return not result.missing and await self._put(rendering, result.text)

    def _run(self, rendering: _Rendering, context: RenderContext, known: Known) -> Rendered:
        """Render. Blocks for as long as the template takes."""
        try:
            return render(
                rendering.parsed,
                context,
                known,
                now=self._context.node.clock.now_ns(),
                missing_key_fails=rendering.template.err_missing_key,
            )
        except TemplateFailed as error:
            raise TemplateTrouble(f"Template failed: {rendering.origin}: execute: {error}") from error

    def _render_context(self) -> RenderContext:
        env, node = self._context.env(), self._context.node
        return RenderContext(
            variables={**env.node_values, **env.variables},
            namespace=self._context.alloc.namespace,
            region=node.settings.region,
            denied_functions=self._settings.function_denylist,
            has_consul=bool(node.settings.consul.address),
            addresses=address_of,
        )

    async def _put(self, rendering: _Rendering, text: str) -> bool:
        """Write the file if it is not as it should be; True when it was not."""
        if rendering.template.envvars:
            try:
                rendering.env = read_env_file(text)
            except BadEnvLine as error:
                raise TemplateTrouble(
                    "Template failed to read environment variables: "
                    f'error parsing env template "{rendering.place.full}": {error}'
                ) from error
        if rendering.text == text:
            return False
        try:
            changed = await asyncio.to_thread(_write, rendering.place, text.encode(), rendering.template)
        except (OSError, PathEscapes) as error:
            raise TemplateTrouble(
                f"Template failed: {rendering.origin}: failed to render {rendering.place.full}: {error}"
            ) from error
        rendering.text = text
        return changed

    # --- data -----------------------------------------------------------------------------------------

    def _known(self) -> dict[Query, Found]:
        known: dict[Query, Found] = {**self._files}
        for query, watch in self._followed.items():
            if watch is not None and watch.answer is not None:
                known[query] = watch.answer.found
        return known

    def _follow_new(self, queries: Iterable[Query]) -> bool:
        """Follow what is asked for; True when some of it was not followed before."""
        new = [query for query in queries if query not in self._followed]
        for query in new:
            self._followed[query] = None if isinstance(query, FileQuery) else self._watch(query)
        return bool(new)

    def _watch(self, query: ClusterQuery) -> DataWatch:
        context = self._context
        followed = followed_query(query, alloc_id=context.alloc.id, task=context.task.name)
        return self._watches.watch(followed, self._data_changed)

    def _drop_unused(self) -> None:
        used = {query for rendering in self._renderings for query in rendering.used}
        for query in [query for query in self._followed if query not in used]:
            watch = self._followed.pop(query)
            if watch is not None:
                watch.close()
            self._files.pop(query, None)

    def _data_changed(self) -> None:
        """Whose data it was is not told, so all that have data are looked at; equal texts change nothing."""
        for rendering in self._renderings:
            rendering.is_dirty = rendering.is_dirty or bool(rendering.used)
        self._news.set()

    async def _wait_for_news(self) -> None:
        """Wait for data to change; files are looked at now and then."""
        while not self._news.is_set():
            if not any(isinstance(query, FileQuery) for query in self._followed):
                await self._news.wait()
                return
            news = asyncio.ensure_future(self._news.wait())
            try:
                await self._context.node.sleep_until_done(FILE_LOOK_INTERVAL_S, news)
            finally:
                news.cancel()
            await self._look_at_files()

    async def _look_at_files(self) -> None:
        for query in [query for query in self._followed if isinstance(query, FileQuery)]:
            content = await self._file_content(query)
            if query not in self._files or self._files[query] != content:
                self._files[query] = content
                self._data_changed()

    async def _file_content(self, query: FileQuery) -> str | OutsideFile | None:
        """The text of a file; None when it is not there."""
        try:
            place = self._place_of(query.path)
            content = await asyncio.to_thread(read_below, place.root, place.path, bytes_max=FILE_BYTES_MAX)
        except (PathEscapes, PathOutside):
            return OutsideFile()
        except OSError:
            return None
        return content.decode(errors="replace")

    def _place_of(self, path: str) -> Place:
        """Where a file is that a template names. Raises PathOutside, unless it may be anywhere."""
        try:
            return task_paths.seen_by_task(path, self._context.env(), self._context.dir)
        except PathOutside:
            if self._settings.disable_file_sandbox:
                return Place("/", path.lstrip("/"))
            raise

    async def _settle(self) -> None:
        """Wait until data is quiet."""
        node = self._context.node
        due = [each.template for each in self._renderings if each.is_dirty and not each.template.once]
        quiet = quiet_time_of_all(quiet_time(template, self._settings) for template in due)
        first = last = node.clock.now_ns()
        while (left := next_look(first, last, quiet) - node.clock.now_ns()) > 0:
            self._news.clear()
            news = asyncio.ensure_future(self._wait_for_news())
            try:
                if await node.sleep_until_done(left / SECOND_NS, news):
                    return
            finally:
                news.cancel()
            last = node.clock.now_ns()


def _missing_text(missing: Sequence[str]) -> str:
    shown = ", ".join(missing[:MISSING_TOLD_MAX])
    more = len(missing) - MISSING_TOLD_MAX
    return f"Missing: {shown}, and {more} more" if more > 0 else f"Missing: {shown}"


def _part(known: Known, queries: Iterable[Query]) -> dict[Query, Found]:
    return {query: known[query] for query in queries if query in known}


def _write(place: Place, content: bytes, template: Template) -> bool:
    """Write a file unless it has that content already. Blocks."""
    try:
        if read_below(place.root, place.path, bytes_max=max(len(content), 1)) == content:
            return False
    except (OSError, PathEscapes):
        pass  # there is none, or something else in its place
    write_below(
        place.root,
        place.path,
        content,
        mode=int(template.perms, 8) if template.perms else PERMS_DEFAULT,
        uid=-1 if template.uid is None else template.uid,
        gid=-1 if template.gid is None else template.gid,
    )
    return True
