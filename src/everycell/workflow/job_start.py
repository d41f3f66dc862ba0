"""Code that runs first in each job: `snakemake_internals.smk` puts this text before its script.

It must import only what Python has loaded already. As part of a library that is imported, it could
come from the byte code that it rules out.
"""

import builtins
import io
import os
import sys

#: The parts of Python that import modules, and those that come from files.
bootstrap = sys.modules["_frozen_importlib"]
machinery = sys.modules["_frozen_importlib_external"]


def isolate_imports(library: str, project: str, byte_code: str) -> None:
    """Import project and library from their sources alone; folders end with a slash.

    Python imports no modules from `.snakemake/scripts`, where Snakemake writes a copy of the
    script. Byte code of project and library is in the folder `byte_code`, which belongs to this
    run, and not beside the sources.
    """
    sys.path[:] = [
        path for path in sys.path if not f"/{path}".rstrip("/").endswith("/.snakemake/scripts")
    ]
    find, write = machinery.cache_from_source, machinery.SourceFileLoader._cache_bytecode
    # PYTHONDONTWRITEBYTECODE holds for other folders.
    is_writing, sys.dont_write_bytecode = not sys.dont_write_bytecode, False

    def cache_from_source(path, *arguments, **options):
        is_project = path.startswith(project) and "/site-packages/" not in path[len(project) :]
        if not (is_project or path.startswith(library)):
            return find(path, *arguments, **options)
        prefix, sys.pycache_prefix = sys.pycache_prefix, byte_code
        try:
            return find(path, *arguments, **options)
        finally:
            sys.pycache_prefix = prefix

    def cache_bytecode(loader, source, path, data):
        if is_writing or path.startswith(byte_code):
            write(loader, source, path, data)

    machinery.cache_from_source = cache_from_source  # type: ignore[attr-defined]
    machinery.SourceFileLoader._cache_bytecode = cache_bytecode


class NotedOpen:
    """A function that opens files, such as `open`; `files` gets those below a folder.

    An object, since a function would become a method of a class that has it.
    """

    def __init__(self, function, folder, files):
        self.function, self.folder, self.files = function, folder, files

    def __call__(self, *arguments, **options):
        """Open a file."""
        for file in (*arguments[:1], options.get("file"), options.get("path")):
            if isinstance(file, str | bytes | os.PathLike):
                path = os.path.abspath(os.fsdecode(file))
                if path.startswith(self.folder):
                    self.files.add(path)
        return self.function(*arguments, **options)


def note_files(project: str) -> None:
    """Note in `machinery.noted_files` files of imported modules, and of `workflow` that are opened.

    A module can rename or remove itself, and code that is read under a computed name, to be run or
    for its data, is not part of the hash of a job's code.
    """
    files = machinery.noted_files = set()  # type: ignore[attr-defined]
    make_module = bootstrap.module_from_spec

    def module_from_spec(spec):
        files.add(spec.origin)
        return make_module(spec)

    bootstrap.module_from_spec = module_from_spec  # type: ignore[attr-defined]
    # Builds and installations leave files in `src` that libraries open.
    folder = f"{project}workflow/"
    builtins.open = io.open = NotedOpen(io.open, folder, files)
    io.open_code = NotedOpen(io.open_code, folder, files)
