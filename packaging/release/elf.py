"""A PEP 517 build backend without dependencies: builds the wheel and the source distribution.

If the environment variable `CHICANE_BINARY` is the path of the simulator's program, the wheel
contains the program, installs the command `chicane`, and has the platform tag of the program. If
`CHICANE_NATIVE` is the path of the native module, the wheel contains the module too. The module
needs CPython 3.11 or later; with another interpreter the package works without it. If
`CHICANE_LICENCES` is the path of a text with the licences of all libraries in the program, the
wheel contains the text. The same inputs give the same bytes. `python backend.py <program> <folder>
[<module>]` builds such a wheel.
"""

import base64
import hashlib
import io
import os
import re
import struct
import sys
import tarfile
import zipfile
from pathlib import Path
from typing import Any

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib  # tomllib is part of Python from 3.11

HERE = Path(__file__).parent
# Libraries that PEP 600 allows a manylinux wheel to link to. A program that needs other libraries
# gets the tag `linux_*`, because it may not run on other machines.
MANYLINUX_LIBRARIES = {
    "libc.so.6",
    "libm.so.6",
    "libgcc_s.so.1",
    "libdl.so.2",
    "libpthread.so.0",
    "librt.so.1",
}
# Name of the native module in the build. It is in the module itself.
MODULE_FILE = "libchicane_native.so"
LOADER = re.compile(rb"ld-linux-[\w-]+\.so\.\d")
# Fixed time of all archive members, so that the same inputs give the same bytes.
FILE_TIME = (1980, 1, 1, 0, 0, 0)

# Content and file mode of each file, by its name in the archive.
Files = dict[str, tuple[bytes, int]]


def project() -> dict[str, Any]:
    loaded: dict[str, Any] = tomllib.loads((HERE / "pyproject.toml").read_text())["project"]
    return loaded


def sources() -> Files:
    files: Files = {}
    for file in sorted((HERE / "src").rglob("*")):
        name = file.relative_to(HERE / "src").as_posix()
        # A program in a `bin` folder of `src` is left out. Only CHICANE_BINARY is packaged.
        if file.suffix in (".py", ".pyi", ".typed") and "/bin/" not in name:
            files[name] = (file.read_bytes(), 0o644)
    return files


def metadata(about: dict[str, Any]) -> str:
    lines = [
        "Metadata-Version: 2.4",
        f"Name: {about['name']}",
        f"Version: {about['version']}",
        f"Summary: {about['description']}",
        f"License-Expression: {about['license']}",
        f"Requires-Python: {about['requires-python']}",
        *[f"Classifier: {one}" for one in about["classifiers"]],
    ]
    for extra, needs in about["optional-dependencies"].items():
        lines.append(f"Provides-Extra: {extra}")
        lines += [f'Requires-Dist: {need}; extra == "{extra}"' for need in needs]
    lines.append("License-File: LICENSE")
    if os.environ.get("CHICANE_LICENCES"):
        lines.append("License-File: THIRD-PARTY-LICENSES.txt")
    lines.append("Description-Content-Type: text/markdown")
    readme: str = (HERE / about["readme"]).read_text()
    return "\n".join(lines) + "\n\n" + readme


def platform(*programs: bytes) -> str:
    """The platform tag of programs, from their libraries and the newest glibc version they need.

    Raises `ValueError` if a program is not for 64-bit Linux on x86_64 or aarch64.
    """
    strings = [text for program in programs for text in dynamic_strings(program)]
    machines = {struct.unpack_from("<H", program, 18)[0] for program in programs}
    machine = {0x3E: "x86_64", 0xB7: "aarch64"}.get(machines.pop())
    if machine is None or machines:
        raise ValueError("CHICANE_BINARY and CHICANE_NATIVE must be for x86_64 or aarch64")
    libraries = {name.decode() for name in strings if b".so" in name and not LOADER.fullmatch(name)}
    libraries.discard(MODULE_FILE)
    if not libraries <= MANYLINUX_LIBRARIES:
        return f"linux_{machine}"
    versions = [re.fullmatch(rb"GLIBC_2\.(\d+)(\.\d+)*", name) for name in strings]
    return f"manylinux_2_{max(int(v[1]) for v in versions if v)}_{machine}"


def dynamic_strings(program: bytes) -> list[bytes]:
    """The strings of the section .dynstr of an ELF file: names of libraries, symbols, versions."""
    if program[:6] != b"\x7fELF\x02\x01":
        raise ValueError("CHICANE_BINARY or CHICANE_NATIVE is not a program for 64-bit Linux")
    start = struct.unpack_from("<Q", program, 40)[0]
    size, count, names = struct.unpack_from("<HHH", program, 58)
    sections = [struct.unpack_from("<IIQQQQ", program, start + i * size) for i in range(count)]
    for name, _, _, _, offset, length in sections:
        label = program[sections[names][4] + name :][:8]
        if label == b".dynstr\0":
            return program[offset : offset + length].split(b"\0")
    raise ValueError("CHICANE_BINARY has no section .dynstr: build it with dynamic linking")


def build_wheel(
    wheel_directory: str,
    config_settings: dict[str, Any] | None = None,
    metadata_directory: str | None = None,
) -> str:
    about = project()
    files, tag = sources(), "py3-none-any"
    info = f"{about['name']}-{about['version']}.dist-info"
    program, module = os.environ.get("CHICANE_BINARY"), os.environ.get("CHICANE_NATIVE")
    if program:
        content = Path(program).read_bytes()
        parts = [content]
        if module:
            parts.append(Path(module).read_bytes())
            files["chicane/native.abi3.so"] = (parts[1], 0o755)
        tag = f"py3-none-{platform(*parts)}"
        files["chicane/bin/chicane"] = (content, 0o755)
        scripts = "".join(f"{name} = {what}\n" for name, what in about["scripts"].items())
        files[f"{info}/entry_points.txt"] = (f"[console_scripts]\n{scripts}".encode(), 0o644)
    pure = "false" if program else "true"
    wheel = f"Wheel-Version: 1.0\nGenerator: chicane\nRoot-Is-Purelib: {pure}\nTag: {tag}\n"
    files[f"{info}/METADATA"] = (metadata(about).encode(), 0o644)
    files[f"{info}/WHEEL"] = (wheel.encode(), 0o644)
    licence = HERE / "LICENSE" if (HERE / "LICENSE").exists() else HERE.parent / "LICENSE"
    files[f"{info}/licenses/LICENSE"] = (licence.read_bytes(), 0o644)
    if libraries := os.environ.get("CHICANE_LICENCES"):
        text = Path(libraries).read_bytes()
        files[f"{info}/licenses/THIRD-PARTY-LICENSES.txt"] = (text, 0o644)
    record = "".join(record_line(name, content) for name, (content, _) in files.items())
    files[f"{info}/RECORD"] = (f"{record}{info}/RECORD,,\n".encode(), 0o644)
    name = f"{about['name']}-{about['version']}-{tag}.whl"
    Path(wheel_directory).mkdir(parents=True, exist_ok=True)
    with zipfile.ZipFile(Path(wheel_directory) / name, "w", zipfile.ZIP_DEFLATED) as archive:
        for path, (content, mode) in files.items():
            entry = zipfile.ZipInfo(path, FILE_TIME)
            entry.external_attr = (0o100000 | mode) << 16
            entry.create_system = 3
            archive.writestr(entry, content, zipfile.ZIP_DEFLATED, 9)
    return name


def record_line(name: str, content: bytes) -> str:
    """One line of the wheel's RECORD: path, hash and size."""
    digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
    return f"{name},sha256={digest},{len(content)}\n"


def build_sdist(sdist_directory: str, config_settings: dict[str, Any] | None = None) -> str:
    about = project()
    base = f"{about['name']}-{about['version']}"
    files = {f"src/{name}": content for name, (content, _) in sources().items()}
    for name in ("pyproject.toml", "README.md", "backend.py"):
        files[name] = (HERE / name).read_bytes()
    files["LICENSE"] = (HERE.parent / "LICENSE").read_bytes()
    files["PKG-INFO"] = metadata(about).encode()
    with tarfile.open(Path(sdist_directory) / f"{base}.tar.gz", "w:gz") as archive:
        for name, content in files.items():
            entry = tarfile.TarInfo(f"{base}/{name}")
            entry.size, entry.mode = len(content), 0o644
            archive.addfile(entry, io.BytesIO(content))
    return f"{base}.tar.gz"


if __name__ == "__main__":
    os.environ["CHICANE_BINARY"] = sys.argv[1]
    if len(sys.argv) > 3:
        os.environ["CHICANE_NATIVE"] = sys.argv[3]
    print(Path(sys.argv[2]) / build_wheel(sys.argv[2]))
