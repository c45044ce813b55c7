"""The output of a Docker container, copied to this process's own streams until the container has ended.

Runs as the task of a supervisor, which keeps the output as that of any other task, whether an agent is
there or not. Docker gives every message the time it was written. The last one copied is on file, so that
after a lost connection, a restarted Docker or a killed follower the copy goes on right behind it.
"""

import os
import socket
import time

NAME = "docker-logs"
RETRY_S = 0.5
_CONNECT_LIMIT_S = 10.0
_RECEIVE_BYTES = 1 << 16
_HEAD_BYTES_MAX = 1 << 16
_FRAME_HEAD = 8
_STDOUT, _STDERR = 1, 2
_OK, _GONE = b"200", b"404"
_POSITION_BYTES_MAX = 4096
# By how much the times of the two streams may cross.
_CROSSING_S = 2
_LOOK_AGAIN_S = 0.02


class _Refused(Exception):
    """Docker answered with something else than what was asked for; `status` is its code."""

    def __init__(self, status: bytes) -> None:
        super().__init__(status)
        self.status = status


class _Engine:
    """Where Docker listens; `tls` are the files of CA, certificate and key, empty without."""

    def __init__(self, address: str, tls: list[str]) -> None:
        self.address = address
        self.tls = tls


class _Answer:
    """A request's answer, read as it comes. Asked in HTTP 1.0, so that it is not cut into chunks."""

    def __init__(self, engine: _Engine, path: str) -> None:
        self._socket = _connect(engine.address, engine.tls)
        self._socket.sendall(f"GET {path} HTTP/1.0\r\nHost: docker\r\n\r\n".encode())
        self._rest = b""
        while b"\r\n\r\n" not in self._rest:
            chunk = self._socket.recv(_RECEIVE_BYTES)
            if not chunk or len(self._rest) > _HEAD_BYTES_MAX:
                raise ConnectionError("no whole answer")
            self._rest += chunk
        head, _, self._rest = self._rest.partition(b"\r\n\r\n")
        status = head.split(None, 2)[1]
        if status != _OK:
            self.close()
            raise _Refused(status)
        # From here on silence is no fault: the container may have nothing to say.
        self._socket.settimeout(None)

    def read(self) -> bytes:
        """What has come; empty at the end."""
        data, self._rest = self._rest, b""
        return data or self._socket.recv(_RECEIVE_BYTES)

    def close(self) -> None:
        self._socket.close()


def _connect(address: str, tls: list[str]) -> socket.socket:
    if address.startswith("unix://"):
        connection = socket.socket(socket.AF_UNIX)
        connection.settimeout(_CONNECT_LIMIT_S)
        connection.connect(address.removeprefix("unix://"))
        return connection
    host, _, port = address.partition("://")[2].rpartition(":")
    connection = socket.create_connection((host.strip("[]"), int(port)), _CONNECT_LIMIT_S)
    return _encrypted(connection, host.strip("[]"), tls) if any(tls) else connection


def _encrypted(connection: socket.socket, host: str, tls: list[str]) -> socket.socket:
    import ssl  # noqa: PLC0415 - megabytes that the launcher would carry for the few who need it

    ca, certificate, key = tls
    context = ssl.create_default_context(cafile=ca or None)
    if certificate:
        context.load_cert_chain(certificate, key or None)
    return context.wrap_socket(connection, server_hostname=host)


class _Mark:
    """The last message of one stream that was copied: its time, and the how many-th of that time it was.

    The times of one stream never go back while Docker runs; those of two streams may cross.
    """

    def __init__(self, at: bytes = b"", count: int = 0) -> None:
        self.at = at
        self.count = count
        self._catches_up = False
        self._again = 0

    def start_over(self) -> None:
        """A new answer begins, which may repeat messages up to the last one."""
        self._catches_up = bool(self.at)
        self._again = 0

    def is_new(self, at: bytes) -> bool:
        """Take note of a message; False when it was copied before."""
        if self._catches_up and at <= self.at:
            if at < self.at:
                return False
            self._again += 1
            if self._again <= self.count:
                return False
        self._catches_up = False
        self.count = self.count + 1 if at == self.at else 1
        self.at = at
        return True


class _Position:
    """How far both streams were copied, kept in a file."""

    def __init__(self, path: str) -> None:
        self._fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        self.marks = {_STDOUT: _Mark(), _STDERR: _Mark()}
        for line in os.read(self._fd, _POSITION_BYTES_MAX).splitlines():
            stream, at, count = line.split()
            self.marks[int(stream)] = _Mark(at, int(count))

    @property
    def since(self) -> str:
        """When to begin, so that nothing is missed: before the last message of either stream."""
        times = [mark.at for mark in self.marks.values() if mark.at]
        return str(unix_time(min(times).decode()) - _CROSSING_S) if times else "0"

    def start_over(self) -> None:
        for mark in self.marks.values():
            mark.start_over()

    def save(self) -> None:
        lines = [
            b"%d %s %012d\n" % (stream, mark.at, mark.count) for stream, mark in self.marks.items() if mark.at
        ]
        os.pwrite(self._fd, b"".join(lines), 0)


def unix_time(text: str) -> int:
    """The second of Docker's `2026-11-15T18:48:04.123456789Z`."""
    date, _, clock = text.partition("T")
    year, month, day = (int(part) for part in date.split("-"))
    hours, minutes, seconds = (int(part) for part in clock[:8].split(":"))
    # Days since 1970, counting years from March so that a leap day comes last.
    year -= month <= 2
    of_year = (153 * (month + (-3 if month > 2 else 9)) + 2) // 5 + day - 1
    days = year * 365 + year // 4 - year // 100 + year // 400 + of_year - 719_468
    return days * 86_400 + hours * 3600 + minutes * 60 + seconds


def follow(arguments: list[str]) -> int:
    """Copy the output of a container from where its position file says.

    `arguments` are container id, position file, kind, Docker's address and the files of CA, certificate
    and key.
    The kind is `tty` for a container with a terminal, whose one stream has no bounds between messages.
    Returns when the container has ended or is no more, and all it wrote has been copied.
    """
    container, position_file, kind, address, *tls = arguments
    engine = _Engine(address, tls)
    position = _Position(position_file)
    copy = _copy_raw if kind == "tty" else _copy_frames
    while True:
        try:
            path = f"/containers/{container}/logs?follow=1&stdout=1&stderr=1&since={position.since}"
            answer = _Answer(engine, f"{path}&timestamps={int(kind != 'tty')}")
            position.start_over()
            try:
                copy(answer, position)
            finally:
                answer.close()
            is_running = _is_running(engine, container)
        except _Refused as refused:
            if refused.status == _GONE:
                return 0
            time.sleep(RETRY_S)
        except OSError:  # Docker is away; it may come back, with the container alive or ended
            time.sleep(RETRY_S)
        else:
            if not is_running:
                return 0
            # It is about to end, or Docker is going down.
            time.sleep(_LOOK_AGAIN_S)


def _is_running(engine: _Engine, container: str) -> bool:
    answer = _Answer(engine, f"/containers/{container}/json")
    data = b""
    try:
        while chunk := answer.read():
            data += chunk
    finally:
        answer.close()
    return b'"Running":true' in data


def _copy_frames(answer: _Answer, position: _Position) -> None:
    """Copy messages: stream, three NULs, length in four bytes, then time, a blank and the text."""
    data = b""
    while chunk := answer.read():
        data += chunk
        at = 0
        while len(data) >= at + _FRAME_HEAD:
            end = at + _FRAME_HEAD + int.from_bytes(data[at + 4 : at + _FRAME_HEAD], "big")
            if end > len(data):
                break
            stamp, _, text = data[at + _FRAME_HEAD : end].partition(b" ")
            stream = _STDERR if data[at] == _STDERR else _STDOUT
            if position.marks[stream].is_new(stamp):
                _write(stream, text)
            at = end
        if at:
            position.save()
            data = data[at:]


def _copy_raw(answer: _Answer, position: _Position) -> None:
    """Copy what a terminal shows; after a lost connection, the output of the last seconds comes twice."""
    while chunk := answer.read():
        _write(_STDOUT, chunk)
        position.marks[_STDOUT] = _Mark(time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()).encode())
        position.save()


def _write(fd: int, data: bytes) -> None:
    while data:
        data = data[os.write(fd, data) :]
