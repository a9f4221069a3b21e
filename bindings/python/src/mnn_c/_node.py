"""Files that the processes of one machine share: copies of models, and prepared weights.

They lie in one folder of the user, under names that are digests of their contents, so any process may use the files of
another one. Damaged or missing files are made again. Files that nothing used for a week are removed.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import stat
import sys
import tempfile
import time
from dataclasses import dataclass
from typing import Any, Callable, Dict, Iterator, Union

if sys.platform == "win32":
    import msvcrt
else:
    import fcntl

Content = Union[bytes, bytearray, memoryview]
UNUSED_SECONDS = 7 * 24 * 3600


def folder() -> str:
    """Returns the folder: that of MNN_C_NODE_FOLDER, else one in the system's folder for temporary files."""
    chosen = os.environ.get("MNN_C_NODE_FOLDER")
    if sys.platform == "win32":  # the folder inherits the rights of the user's folder for temporary files
        path = chosen or os.path.join(tempfile.gettempdir(), "mnn_c")
        os.makedirs(path, exist_ok=True)
        return path
    path = chosen or os.path.join(tempfile.gettempdir(), f"mnn_c-{os.getuid()}")
    os.makedirs(path, mode=0o700, exist_ok=True)
    status = os.lstat(path)
    if not stat.S_ISDIR(status.st_mode) or status.st_uid != os.getuid() or status.st_mode & 0o022:
        raise PermissionError(
            f"'{path}', which holds files that processes share, is not a folder that its owner alone, this user, can"
            " write; name another one in the environment variable MNN_C_NODE_FOLDER"
        )
    return path


@contextlib.contextmanager
def locked(name: str) -> Iterator[str]:
    """Holds the lock of a file of the folder against every other process of the machine; yields the path of the file.

    Where sweep() takes an old lock away from a process that waits for it, two processes write the same contents, one
    after another.
    """
    path = os.path.join(folder(), name)
    lock = os.open(path + ".lock", os.O_RDWR | os.O_CREAT, 0o600)  # a child process does not inherit it
    try:
        _await_lock(lock)
        yield path
    finally:
        os.close(lock)


def _await_lock(file: int) -> None:
    if sys.platform == "win32":
        while True:
            with contextlib.suppress(OSError):
                msvcrt.locking(file, msvcrt.LK_NBLCK, 1)  # LK_LOCK would look only once a second, and give up
                return
            time.sleep(0.02)
    else:
        fcntl.flock(file, fcntl.LOCK_EX)


def write(path: str, data: Any) -> None:
    """Writes a file atomically. Call it with the lock of the file."""
    sweep()
    part = f"{path}.{os.getpid()}.part"
    try:
        with open(part, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        if sys.platform != "win32":  # there, a read-only file cannot be replaced or removed
            os.chmod(part, 0o400)
        os.replace(part, path)
    finally:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(part)


def use(path: str) -> bool:
    """Returns whether the file exists; it then counts as used now."""
    try:
        os.utime(path)
    except FileNotFoundError:
        return False
    return True


def sweep(seconds: float = UNUSED_SECONDS) -> None:
    """Removes files that were not used for that long. A process that has one mapped keeps its contents; on Windows the
    file stays, too."""
    oldest = time.time() - seconds
    for entry in os.scandir(folder()):
        with contextlib.suppress(FileNotFoundError, *((PermissionError,) if sys.platform == "win32" else ())):
            if entry.is_file(follow_symlinks=False) and entry.stat(follow_symlinks=False).st_mtime < oldest:
                os.unlink(entry.path)


@dataclass(frozen=True)
class StoredModel:
    """A model that each machine fetches once into a file that all its processes map.

    It is pickled as its digest and `fetch`, which returns the contents by the endings of their files' names: "" for the
    model, ".weight" for its external weights.
    """

    digest: str
    fetch: Callable[[], Dict[str, Any]]

    def path(self) -> str:
        """Returns the path of this machine's copy. Processes that call it at the same time wait for the one that
        fetches."""
        with locked(self.digest + ".mnn") as path:
            weights = path + ".weight"
            if use(path):
                use(weights)
                return path
            contents = self.fetch()
            if digest_of(contents) != self.digest:
                raise ValueError(f"what was fetched as model {self.digest} has the digest {digest_of(contents)}")
            if ".weight" in contents:
                write(weights, contents[".weight"])
            write(path, contents[""])  # last, so that its presence means that all files are there
            return path


def contents_of(model: Union[str, "os.PathLike[str]", Content]) -> Dict[str, Content]:
    """Returns the contents of a model for a StoredModel: from its bytes, or from its file and the file of weights
    beside it."""
    if isinstance(model, (bytes, bytearray, memoryview)):
        return {"": model}
    contents: Dict[str, Content] = {}
    for suffix in ("", ".weight"):
        with contextlib.suppress(*(() if not suffix else (FileNotFoundError,))):
            with open(os.fspath(model) + suffix, "rb") as file:
                contents[suffix] = file.read()
    return contents


def digest_of(contents: Dict[str, Any]) -> str:
    digest = hashlib.sha256()
    for suffix in sorted(contents):
        data = memoryview(contents[suffix]).cast("B")
        digest.update(f"{suffix}:{len(data)}:".encode())
        digest.update(data)
    return digest.hexdigest()
