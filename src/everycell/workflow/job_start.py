"""Code that runs first in each job: `snakemake_internals.smk` puts this text before its script.

It must import only what Python has loaded already. As part of a library that is imported, it could
come from the byte code that it rules out.
"""

import sys

#: The parts of Python that import modules, and those that come from files.
bootstrap = sys.modules["_frozen_importlib"]
machinery = sys.modules["_frozen_importlib_external"]


def isolate_imports(library: str, project: str, byte_code: str) -> None:
    """Import project and library from their sources alone; folders end with a slash.

    Python imports no modules from `.snakemake/scripts`, where Snakemake writes a copy of the
    script. Byte code of project and library is in the folder `byte_code`, which belongs to this
    run, and not beside the sources. `machinery.imported_files` has the files of all modules
    imported from now on, since a module can rename or remove itself.
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

    imported_files, make_module = set(), bootstrap.module_from_spec

    def module_from_spec(spec):
        imported_files.add(spec.origin)
        return make_module(spec)

    machinery.imported_files = imported_files  # type: ignore[attr-defined]
    bootstrap.module_from_spec = module_from_spec  # type: ignore[attr-defined]
    machinery.cache_from_source = cache_from_source  # type: ignore[attr-defined]
    machinery.SourceFileLoader._cache_bytecode = cache_bytecode
