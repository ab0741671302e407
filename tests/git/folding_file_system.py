# ruff: noqa: ARG002  # the library calls these methods with all their arguments
"""A file system like macOS's: names keep their case and Unicode form, and are found by any other.

`python folding_file_system.py FOLDER MOUNT_POINT` serves the files of FOLDER at MOUNT_POINT until
that is unmounted.
"""

import errno
import os
import sys
import unicodedata

from mfusepy import FUSE, FuseOSError, Operations


def folded(name):
    """What two names of one file have in common."""
    return unicodedata.normalize("NFD", unicodedata.normalize("NFC", name).casefold())


class Folding(Operations):
    """The files of a folder, by folded names."""

    use_ns = True

    def __init__(self, root):
        self.root = root

    def _real(self, path):
        """The path below the folder: of parts that exist, as they are written."""
        real = self.root
        for part in filter(None, path.split("/")):
            if not os.path.lexists(os.path.join(real, part)):
                names = os.listdir(real) if os.path.isdir(real) else ()
                written = (name for name in names if folded(name) == folded(part))
                real = os.path.join(real, next(written, part))
            else:
                real = os.path.join(real, part)
        return real

    def getattr(self, path, fh=None):
        try:
            found = os.lstat(self._real(path))
        except FileNotFoundError:
            raise FuseOSError(errno.ENOENT) from None
        names = ("mode", "nlink", "uid", "gid", "size", "atime_ns", "mtime_ns", "ctime_ns")
        return {f"st_{name.removesuffix('_ns')}": getattr(found, f"st_{name}") for name in names}

    def readdir(self, path, fh):
        return [".", "..", *os.listdir(self._real(path))]

    def access(self, path, amode):
        if not os.access(self._real(path), amode):
            raise FuseOSError(errno.EACCES)
        return 0

    def open(self, path, flags):
        return os.open(self._real(path), flags)

    def create(self, path, mode, fi=None):
        return os.open(self._real(path), os.O_RDWR | os.O_CREAT, mode)

    def read(self, path, size, offset, fh):
        return os.pread(fh, size, offset)

    def write(self, path, data, offset, fh):
        return os.pwrite(fh, data, offset)

    def truncate(self, path, length, fh=None):
        os.truncate(self._real(path), length)
        return 0

    def release(self, path, fh):
        os.close(fh)
        return 0

    def fsync(self, path, datasync, fh):
        return 0

    def flush(self, path, fh):
        return 0

    def mkdir(self, path, mode):
        os.mkdir(self._real(path), mode)
        return 0

    def rmdir(self, path):
        os.rmdir(self._real(path))
        return 0

    def unlink(self, path):
        os.unlink(self._real(path))
        return 0

    def rename(self, old, new):
        source, target = self._real(old), self._real(new)
        if source == target:  # only the case or the form of the name changes
            target = os.path.join(os.path.dirname(target), new.rpartition("/")[2])
        os.rename(source, target)
        return 0

    def link(self, target, source):
        os.link(self._real(source), self._real(target))
        return 0

    def symlink(self, target, source):
        os.symlink(source, self._real(target))
        return 0

    def readlink(self, path):
        return os.readlink(self._real(path))

    def chmod(self, path, mode):
        os.chmod(self._real(path), mode)
        return 0

    def chown(self, path, uid, gid):
        return 0

    def utimens(self, path, times=None):
        os.utime(self._real(path), ns=times)
        return 0

    def statfs(self, path):
        found = os.statvfs(self._real(path))
        names = ("f_bavail", "f_bfree", "f_blocks", "f_bsize", "f_files", "f_ffree", "f_namemax")
        return {name: getattr(found, name) for name in names}


if __name__ == "__main__":
    FUSE(Folding(sys.argv[1]), sys.argv[2], foreground=True, nothreads=True)
