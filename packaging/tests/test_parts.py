"""The parts of the program are found in small metadata of cargo and npm."""

import json
import tempfile
import unittest
from pathlib import Path

from release.parts import crates, imported, npm_packages, purl, spdx

SHA512 = "sha512-" + "A" * 86 + "=="


def package(name, source="registry", kind="lib", licence="MIT"):
    return {
        "id": name,
        "name": name,
        "version": "1.0.0",
        "source": source,
        "license": licence,
        "authors": [],
        "manifest_path": f"/registry/{name}/Cargo.toml",
        "targets": [{"kind": [kind]}],
    }


def node(name, **needs):
    deps = [
        {"pkg": each, "dep_kinds": [{"kind": None if kind == "normal" else kind}]}
        for each, kind in needs.items()
    ]
    return {"id": name, "deps": deps}


METADATA = {
    "packages": [
        package("chicane", None),
        package("chicane-native", None),
        package("sim", None),
        package("deep"),
        package("wide", licence="MIT/Apache-2.0"),
        package("macro", kind="proc-macro"),
        package("builder"),
        package("tester"),
        package("utoipa-swagger-ui-vendored"),
    ],
    "resolve": {
        "nodes": [
            node("chicane", sim="normal", builder="build", tester="dev"),
            node("chicane-native", sim="normal"),
            node("sim", wide="normal", macro="normal"),
            node("wide", deep="normal", **{"utoipa-swagger-ui-vendored": "build"}),
            *(node(name) for name in ("deep", "macro", "builder", "tester")),
            node("utoipa-swagger-ui-vendored"),
        ]
    },
}
LOCK = "".join(
    f'[[package]]\nname = "{name}"\nversion = "1.0.0"\nchecksum = "{"0" * 64}"\n'
    for name in ("deep", "wide", "utoipa-swagger-ui-vendored")
)


class Crates(unittest.TestCase):
    def test_only_crates_in_the_program_are_parts(self):
        parts = crates(METADATA, LOCK)
        names = [part.name for part in parts]
        self.assertEqual(names, ["deep", "utoipa-swagger-ui-vendored", "wide"])
        self.assertEqual(parts[2].licence, "MIT OR Apache-2.0")
        self.assertEqual(parts[2].hashes, (("SHA-256", "0" * 64),))
        self.assertIn("pkg:cargo/deep@1.0.0", parts[2].needs)

    def test_a_workspace_without_the_program_is_refused(self):
        other = {"packages": [package("deep")], "resolve": {"nodes": [node("deep")]}}
        with self.assertRaisesRegex(ValueError, "chicane and chicane-native"):
            crates(other, LOCK)


class Npm(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.web = Path(folder.name)
        (self.web / "src/deep").mkdir(parents=True)

    def source(self, text, name="page.ts"):
        (self.web / "src" / name).write_text(text)

    def lock(self, **packages):
        entries = {
            f"node_modules/{name}": {
                "version": "2.0.0",
                "license": "MIT",
                "integrity": SHA512,
                "dependencies": dict.fromkeys(needs, "^2"),
            }
            for name, needs in packages.items()
        }
        (self.web / "package-lock.json").write_text(json.dumps({"packages": entries}))

    def test_imports_of_values_count_and_imports_of_types_do_not(self):
        self.source('import { A } from "three";\nimport type { B } from "types-only";\n')
        self.source('import {\n  C,\n} from "@scope/name/sub.js";\nimport "style";\n', "deep/a.ts")
        self.source('const d = await import("late");\nimport e from "./own.ts";\n', "deep/b.ts")
        self.assertEqual(imported(self.web / "src"), {"three", "@scope/name", "style", "late"})

    def test_dependencies_of_imported_packages_are_parts_and_tools_are_not(self):
        self.source('import { A } from "three";\n')
        self.lock(three=["helper"], helper=[], vite=["postcss"], rolldown=[], postcss=[], vitest=[])
        parts = npm_packages(self.web)
        self.assertEqual([part.name for part in parts], ["helper", "rolldown", "three", "vite"])
        three = parts[2]
        self.assertEqual(three.needs, ("pkg:npm/helper@2.0.0",))
        self.assertEqual(three.hashes, (("SHA-512", "0" * 128),))
        self.assertEqual(parts[3].needs, ())

    def test_an_import_that_is_not_locked_is_refused(self):
        self.source('import { A } from "unknown";\n')
        self.lock(vite=[], rolldown=[])
        with self.assertRaisesRegex(ValueError, "unknown is not in"):
            npm_packages(self.web)


class Names(unittest.TestCase):
    def test_scope_of_a_package_url_is_encoded(self):
        self.assertEqual(purl("npm", "@lezer/lr", "1.4.2"), "pkg:npm/%40lezer/lr@1.4.2")

    def test_slash_of_old_crates_means_or(self):
        self.assertEqual(spdx("Unlicense/MIT"), "Unlicense OR MIT")
        self.assertEqual(spdx("MIT OR Apache-2.0"), "MIT OR Apache-2.0")


if __name__ == "__main__":
    unittest.main()
