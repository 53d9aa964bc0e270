"""The libraries that are in the program: Rust crates and npm packages.

Crates come from `cargo metadata`: the dependencies of the program and of the Python module for this
platform. Macros and build tools are left out, because they are not in the program. npm packages are
those that the pages import, with their dependencies.
"""

import base64
import json
import re
import subprocess
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

TARGET = "x86_64-unknown-linux-gnu"
ROOTS = ("chicane", "chicane-native")
# A build dependency whose files are embedded in the program: the pages of the OpenAPI documents.
EMBEDDED = ("utoipa-swagger-ui-vendored",)
# The bundler adds small functions of its own to the pages, so its packages are parts too.
BUNDLER = ("rolldown", "vite")
# Matches an import of more than types. The imported names may be on several lines.
IMPORT = re.compile(
    r'^\s*(?:import|export)\s+(?!type\s)(?:[^;"\']*?\sfrom\s+)?"([^"]+)"', re.MULTILINE
)
DYNAMIC_IMPORT = re.compile(r'\bimport\("([^"]+)"\)')


@dataclass(frozen=True)
class Part:
    """A library. `folder` has its files, `needs` has the references of its dependencies."""

    kind: str
    name: str
    version: str
    licence: str
    folder: Path | None
    authors: tuple[str, ...] = ()
    hashes: tuple[tuple[str, str], ...] = ()
    needs: tuple[str, ...] = field(default=(), compare=False)

    @property
    def purl(self) -> str:
        """The package URL, which identifies the part."""
        return purl(self.kind, self.name, self.version)


def purl(kind: str, name: str, version: str) -> str:
    """A package URL. The scope of an npm package is encoded."""
    return f"pkg:{kind}/{name.replace('@', '%40')}@{version}"


def spdx(expression: str) -> str:
    """A licence expression of SPDX. Old crates separate alternatives by a slash."""
    return re.sub(r"\s*/\s*", " OR ", expression)


def cargo_metadata(root: Path, cargo: str = "cargo") -> dict[str, Any]:
    """The output of `cargo metadata` for the platform of the packages."""
    command = [cargo, "metadata", "--locked", "--format-version=1", "--filter-platform", TARGET]
    done = subprocess.run(command, cwd=root, capture_output=True, text=True, check=False)
    if done.returncode:
        raise ValueError(f"cargo metadata failed: {done.stderr.strip().splitlines()[-1:]}")
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def crates(metadata: dict[str, Any], lock: str) -> list[Part]:
    """The crates in the program, sorted. `lock` is the text of Cargo.lock."""
    packages = {package["id"]: package for package in metadata["packages"]}
    nodes = {node["id"]: node for node in metadata["resolve"]["nodes"]}
    sums = {
        (each["name"], each["version"]): each.get("checksum")
        for each in tomllib.loads(lock)["package"]
    }
    waiting = [key for key, package in packages.items() if package["name"] in ROOTS]
    if len(waiting) != len(ROOTS):
        raise ValueError(f"the workspace must have the packages {' and '.join(ROOTS)}")
    seen: dict[str, tuple[str, ...]] = {}
    while waiting:
        key = waiting.pop()
        if key not in seen:
            inside = [each for each in nodes[key]["deps"] if is_inside(each, packages)]
            seen[key] = tuple(each["pkg"] for each in inside)
            waiting += seen[key]

    def reference(key: str) -> str:
        return purl("cargo", packages[key]["name"], packages[key]["version"])

    parts = []
    for key, below in seen.items():
        package = packages[key]
        if package["source"] is None:
            continue
        name, version, total = (
            package["name"],
            package["version"],
            sums[package["name"], package["version"]],
        )
        parts.append(
            Part(
                "cargo",
                name,
                version,
                spdx(package["license"] or ""),
                Path(package["manifest_path"]).parent,
                tuple(package["authors"]),
                (("SHA-256", total),) if total else (),
                tuple(sorted(reference(each) for each in below)),
            )
        )
    return sorted(parts, key=lambda part: (part.name, part.version))


def is_inside(dependency: dict[str, Any], packages: dict[str, Any]) -> bool:
    """Whether a dependency is part of the program and not only of its build."""
    package = packages[dependency["pkg"]]
    macro = any("proc-macro" in target["kind"] for target in package["targets"])
    normal = any(kind["kind"] is None for kind in dependency["dep_kinds"])
    return package["name"] in EMBEDDED or (normal and not macro)


def imported(sources: Path) -> set[str]:
    """The names of the npm packages that TypeScript files import."""
    names = set()
    for file in sorted(sources.rglob("*.ts")):
        text = file.read_text()
        for found in [*IMPORT.findall(text), *DYNAMIC_IMPORT.findall(text)]:
            if not found.startswith((".", "/", "node:")):
                names.add("/".join(found.split("/")[: 2 if found.startswith("@") else 1]))
    return names


def npm_packages(web: Path) -> list[Part]:
    """The npm packages in the pages, sorted."""
    locked = json.loads((web / "package-lock.json").read_text())["packages"]

    def place(name: str, above: str) -> str:
        """The key of a dependency in the lock file: the nearest `node_modules` folder has it."""
        while above:
            if f"{above}/node_modules/{name}" in locked:
                return f"{above}/node_modules/{name}"
            above = above.rpartition("/node_modules/")[0]
        if f"node_modules/{name}" not in locked:
            raise ValueError(f"the package {name} is not in {web.name}/package-lock.json")
        return f"node_modules/{name}"

    def below(key: str) -> Iterator[str]:
        return (place(name, key) for name in sorted(locked[key].get("dependencies", {})))

    # The pages contain functions of the bundler's own packages, but not the dependencies of these
    # packages.
    alone = {place(name, "") for name in BUNDLER}
    waiting, seen = [place(name, "") for name in sorted(imported(web / "src"))], set(alone)
    while waiting:
        key = waiting.pop()
        if key not in seen:
            seen.add(key)
            waiting += below(key)

    def name_of(key: str) -> str:
        return key.rpartition("node_modules/")[2]

    parts = []
    for key in seen:
        entry = locked[key]
        kind, _, digest = entry["integrity"].partition("-")
        needs = (
            []
            if key in alone
            else [purl("npm", name_of(k), locked[k]["version"]) for k in below(key)]
        )
        hashed = ((f"SHA-{kind.removeprefix('sha')}", base64.b64decode(digest).hex()),)
        licence, where = spdx(entry.get("license", "")), web / key
        parts.append(
            Part(
                "npm",
                name_of(key),
                entry["version"],
                licence,
                where,
                (),
                hashed,
                tuple(sorted(needs)),
            )
        )
    return sorted(parts, key=lambda part: (part.name, part.version))


def rust_library(rustc: str = "rustc") -> Part:
    """Rust's standard library, which every Rust program contains."""
    version = subprocess.run(
        [rustc, "--version"], capture_output=True, text=True, check=True
    ).stdout
    return Part(
        "generic", "rust-std", version.split()[1], "MIT OR Apache-2.0", None, ("The Rust Project",)
    )


def all_parts(root: Path, cargo: str = "cargo", rustc: str = "rustc") -> list[Part]:
    """All libraries in the program, in a fixed order."""
    lock = (root / "Cargo.lock").read_text()
    found = crates(cargo_metadata(root, cargo), lock) + npm_packages(root / "web")
    return [*found, rust_library(rustc)]
