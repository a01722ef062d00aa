"""Makes the torch that PyPI serves for Linux usable on a machine without any GPU package.

usage: torch_without_gpu.py SITE_PACKAGES

The build is linked against GPU runtime libraries that are not installed. For each of them a small stand-in is compiled
whose every function answers "no device", so that torch finds no GPU and goes on. The compiled GPU code inside
libtorch_cuda.so is never read then, and its pages are given back to the file system. Needs gcc, readelf and fallocate.
"""

import pathlib
import re
import subprocess
import sys
import tempfile

NO_DEVICE = 100  # cudaErrorNoDevice
LOADED_ON_FIRST_GPU_USE = ("libtorch_cuda_linalg.so", "libcaffe2_nvrtc.so")
COMPILER_LIBRARIES = ("libc.so.6", "libm.so.6", "libgcc_s.so.1", "libstdc++.so.6", "libgomp.so.1", "libdl.so.2",
                      "libpthread.so.0", "librt.so.1", "ld-linux-x86-64.so.2")


def run(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


class Image:
    """What one shared library asks for and what it offers, as readelf tells it."""

    def __init__(self, path):
        self.needed = re.findall(r"\(NEEDED\).*\[(.+)\]", run("readelf", "-d", "-W", path))
        self.version_files = {}
        provider = None
        for line in run("readelf", "-V", "-W", path).splitlines():
            named = re.search(r"File: (\S+)", line)
            provider = named.group(1) if named else provider
            version = re.search(r"Name: (\S+)\s+Flags: .*Version: \d+", line)
            if version and provider:
                self.version_files[version.group(1)] = provider
        self.exports, self.imports = set(), set()
        for line in run("readelf", "--dyn-syms", "-W", path).splitlines():
            columns = line.split()
            if len(columns) < 8 or not columns[0].rstrip(":").isdigit():
                continue
            binding, section = columns[4], columns[6]
            name, _, version = columns[7].partition("@")
            if section != "UND":
                self.exports.add(name)
            elif binding != "WEAK":
                self.imports.add((name, version.lstrip("@")))


def source_of(name):
    if re.search(r"(ErrorString|ErrorName|ResultString)$", name):
        return f'const char *{name}(void) {{ return "no GPU library here"; }}'
    return f"long {name}(void) {{ return {0 if name.startswith('_') else NO_DEVICE}; }}"


def compile_stand_in(folder, soname, symbols):
    """symbols: version name ('' for none) -> names."""
    text = "\n".join(source_of(name) for names in symbols.values() for name in sorted(names))
    script = "".join(f"{version} {{ global: {'; '.join(sorted(names))}; }};\n"
                     for version, names in symbols.items() if version)
    with tempfile.TemporaryDirectory(dir=folder) as work:
        c_file, map_file, library = (pathlib.Path(work, n) for n in ("s.c", "s.map", "s.so"))
        c_file.write_text(text or "int nothing_to_stand_in_for;")
        map_file.write_text(script)
        command = ["gcc", "-w", "-O1", "-shared", "-fPIC", "-fno-builtin", f"-Wl,-soname,{soname}", "-o", library, c_file]
        subprocess.run(command + ([f"-Wl,--version-script={map_file}"] if script else []), check=True)
        library.rename(folder / soname)


def stand_in_for_missing(folder):
    for name in LOADED_ON_FIRST_GPU_USE:
        (folder / name).unlink(missing_ok=True)
    images = [Image(path) for path in sorted(folder.iterdir()) if ".so" in path.name]
    missing = sorted({n for i in images for n in i.needed if n not in COMPILER_LIBRARIES and not (folder / n).exists()})
    if not missing:
        return
    offered = set().union(*(i.exports for i in images))
    for library in COMPILER_LIBRARIES:
        path = run("gcc", f"-print-file-name={library}").strip()
        if path != library:
            offered |= Image(path).exports
    wanted = {soname: {} for soname in missing}
    for image in images:
        for name, version in image.imports:
            provider = image.version_files.get(version, missing[0] if not version else None)
            if provider in wanted and name not in offered and not name.startswith(("Py", "_Py")):
                wanted[provider].setdefault(version, set()).add(name)
    for soname, symbols in wanted.items():
        compile_stand_in(folder, soname, symbols)
        print(f"{soname}: {sum(map(len, symbols.values()))} functions")


def drop_gpu_code(library):
    """Punches the section out of the file; addresses and sizes stay as they are."""
    for line in run("readelf", "-S", "-W", library).splitlines():
        columns = line.replace("[ ", "[").split()
        if len(columns) > 5 and columns[1] == ".nv_fatbin":
            offset, size = int(columns[4], 16), int(columns[5], 16)
            subprocess.run(["fallocate", "--punch-hole", "-o", str(offset), "-l", str(size), library], check=False)


torch_libraries = pathlib.Path(sys.argv[1], "torch", "lib")
stand_in_for_missing(torch_libraries)
drop_gpu_code(torch_libraries / "libtorch_cuda.so")
