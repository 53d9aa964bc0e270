"""Finds out on which machines a program runs: the processor, the libraries and the oldest glibc."""

import re
import struct

# Libraries that PEP 600 allows a manylinux wheel to link to, because every machine has them. A
# program that needs other libraries does not run on machines without these libraries.
MANYLINUX_LIBRARIES = {
    "libc.so.6",
    "libm.so.6",
    "libgcc_s.so.1",
    "libdl.so.2",
    "libpthread.so.0",
    "librt.so.1",
}
LOADER = re.compile(rb"ld-linux-[\w-]+\.so\.\d")
MACHINES = {0x3E: "x86_64", 0xB7: "aarch64"}


def oldest_glibc(program: bytes) -> tuple[int, int]:
    """The oldest version of glibc that a program runs with, such as (2, 34).

    Raises `ValueError` if the program is not for 64-bit Linux, is not linked dynamically, or needs
    a library that is not in `MANYLINUX_LIBRARIES`.
    """
    strings = dynamic_strings(program)
    libraries = {name.decode() for name in strings if b".so" in name and not LOADER.fullmatch(name)}
    if others := sorted(libraries - MANYLINUX_LIBRARIES):
        raise ValueError(f"the program needs more libraries than glibc: {', '.join(others)}")
    versions = [re.fullmatch(rb"GLIBC_2\.(\d+)(\.\d+)*", name) for name in strings]
    return 2, max(int(version[1]) for version in versions if version)


def machine(program: bytes) -> str | None:
    """The processor that a program is for, or None if it is not one of `MACHINES`."""
    return MACHINES.get(struct.unpack_from("<H", program, 18)[0])


def dynamic_strings(program: bytes) -> list[bytes]:
    """The strings of the section .dynstr of an ELF file: names of libraries, symbols, versions."""
    if program[:6] != b"\x7fELF\x02\x01":
        raise ValueError("the program is not for 64-bit Linux")
    start = struct.unpack_from("<Q", program, 40)[0]
    size, count, names = struct.unpack_from("<HHH", program, 58)
    sections = [struct.unpack_from("<IIQQQQ", program, start + i * size) for i in range(count)]
    for name, _, _, _, offset, length in sections:
        label = program[sections[names][4] + name :][:8]
        if label == b".dynstr\0":
            return program[offset : offset + length].split(b"\0")
    raise ValueError("the program has no section .dynstr: build it with dynamic linking")
