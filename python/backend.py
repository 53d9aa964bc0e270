"""Builds the wheel, by the rules of PEP 517 and without any other package.

With `CHICANE_BINARY` set the wheel carries that program, is for the platforms that can run it, and
puts `chicane` on the path. The same inputs give the same bytes. `python backend.py <program>
<folder>` does it by hand.
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
    import tomli as tomllib  # what tomllib was before it came with Python

HERE = Path(__file__).parent
# What every Linux of its age has (PEP 600); a program that needs more is not for others.
EVERYWHERE = {
    "libc.so.6",
    "libm.so.6",
    "libgcc_s.so.1",
    "libdl.so.2",
    "libpthread.so.0",
    "librt.so.1",
}
LOADER = re.compile(rb"ld-linux-[\w-]+\.so\.\d")
MOMENT = (1980, 1, 1, 0, 0, 0)

Files = dict[str, tuple[bytes, int]]


def project() -> dict[str, Any]:
    loaded: dict[str, Any] = tomllib.loads((HERE / "pyproject.toml").read_text())["project"]
    return loaded


def sources() -> Files:
    files: Files = {}
    for file in sorted((HERE / "src").rglob("*")):
        name = file.relative_to(HERE / "src").as_posix()
        # A program comes only by CHICANE_BINARY.
        if file.suffix in (".py", ".typed") and "/bin/" not in name:
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
    lines += ["License-File: LICENSE", "Description-Content-Type: text/markdown"]
    readme: str = (HERE / about["readme"]).read_text()
    return "\n".join(lines) + "\n\n" + readme


def platform(program: bytes) -> str:
    """The tag of the platforms that can run a program: by the newest glibc and the libraries it
    needs.
    """
    strings = dynamic_strings(program)
    machine = {0x3E: "x86_64", 0xB7: "aarch64"}.get(struct.unpack_from("<H", program, 18)[0])
    if machine is None:
        raise ValueError("wheels are made for x86_64 and aarch64 only")
    libraries = {name.decode() for name in strings if b".so" in name and not LOADER.fullmatch(name)}
    if not libraries <= EVERYWHERE:
        return f"linux_{machine}"
    versions = [re.fullmatch(rb"GLIBC_2\.(\d+)(\.\d+)*", name) for name in strings]
    return f"manylinux_2_{max(int(v[1]) for v in versions if v)}_{machine}"


def dynamic_strings(program: bytes) -> list[bytes]:
    """Names that the loader of the system reads, from the section .dynstr of an ELF file."""
    if program[:6] != b"\x7fELF\x02\x01":
        raise ValueError("CHICANE_BINARY is no program for 64-bit Linux")
    start = struct.unpack_from("<Q", program, 40)[0]
    size, count, names = struct.unpack_from("<HHH", program, 58)
    sections = [struct.unpack_from("<IIQQQQ", program, start + i * size) for i in range(count)]
    for name, _, _, _, offset, length in sections:
        label = program[sections[names][4] + name :][:8]
        if label == b".dynstr\0":
            return program[offset : offset + length].split(b"\0")
    raise ValueError("CHICANE_BINARY is linked statically: it has no .dynstr")


def build_wheel(
    wheel_directory: str,
    config_settings: dict[str, Any] | None = None,
    metadata_directory: str | None = None,
) -> str:
    about = project()
    files, tag = sources(), "py3-none-any"
    info = f"{about['name']}-{about['version']}.dist-info"
    program = os.environ.get("CHICANE_BINARY")
    if program:
        content = Path(program).read_bytes()
        tag = f"py3-none-{platform(content)}"
        files["chicane/bin/chicane"] = (content, 0o755)
        scripts = "".join(f"{name} = {what}\n" for name, what in about["scripts"].items())
        files[f"{info}/entry_points.txt"] = (f"[console_scripts]\n{scripts}".encode(), 0o644)
    pure = "false" if program else "true"
    wheel = f"Wheel-Version: 1.0\nGenerator: chicane\nRoot-Is-Purelib: {pure}\nTag: {tag}\n"
    files[f"{info}/METADATA"] = (metadata(about).encode(), 0o644)
    files[f"{info}/WHEEL"] = (wheel.encode(), 0o644)
    licence = HERE / "LICENSE" if (HERE / "LICENSE").exists() else HERE.parent / "LICENSE"
    files[f"{info}/licenses/LICENSE"] = (licence.read_bytes(), 0o644)
    record = "".join(line(name, content) for name, (content, _) in files.items())
    files[f"{info}/RECORD"] = (f"{record}{info}/RECORD,,\n".encode(), 0o644)
    name = f"{about['name']}-{about['version']}-{tag}.whl"
    Path(wheel_directory).mkdir(parents=True, exist_ok=True)
    with zipfile.ZipFile(Path(wheel_directory) / name, "w", zipfile.ZIP_DEFLATED) as archive:
        for path, (content, mode) in files.items():
            entry = zipfile.ZipInfo(path, MOMENT)
            entry.external_attr = (0o100000 | mode) << 16
            entry.create_system = 3
            archive.writestr(entry, content, zipfile.ZIP_DEFLATED, 9)
    return name


def line(name: str, content: bytes) -> str:
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
    print(Path(sys.argv[2]) / build_wheel(sys.argv[2]))
