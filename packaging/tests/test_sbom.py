"""The SBOM has the fields that CycloneDX requires, and the check finds what is missing."""

import copy
import json
import unittest

from release import sbom
from release.parts import Part

PARTS = [
    Part("cargo", "deep", "1.0.0", "MIT", None, hashes=(("SHA-256", "ab" * 32),)),
    Part("npm", "@scope/wide", "2.0.0", "MIT OR Apache-2.0", None, needs=("pkg:cargo/deep@1.0.0",)),
]


class Sbom(unittest.TestCase):
    def setUp(self):
        self.document = sbom.document("0.1.0", PARTS, 1_700_000_000)

    def test_document_is_valid_and_always_the_same(self):
        self.assertEqual(sbom.problems(self.document), [])
        again = sbom.text(sbom.document("0.1.0", PARTS, 1_700_000_000))
        self.assertEqual(again, sbom.text(self.document))
        other = sbom.document("0.1.1", PARTS, 1_700_000_000)
        self.assertNotEqual(other["serialNumber"], self.document["serialNumber"])
        self.assertEqual(json.loads(again)["metadata"]["timestamp"], "2023-11-14T22:13:20Z")

    def test_program_depends_on_the_parts_that_no_other_part_needs(self):
        tree = {node["ref"]: node["dependsOn"] for node in self.document["dependencies"]}
        self.assertEqual(tree["pkg:generic/chicane@0.1.0"], ["pkg:npm/%40scope/wide@2.0.0"])
        self.assertEqual(tree["pkg:npm/%40scope/wide@2.0.0"], ["pkg:cargo/deep@1.0.0"])

    def test_each_missing_or_wrong_field_is_found(self):
        changes = {
            "bomFormat": lambda d: d.pop("bomFormat"),
            "specVersion": lambda d: d.update(specVersion="9"),
            "serialNumber": lambda d: d.update(serialNumber="urn:uuid:1"),
            "timestamp": lambda d: d["metadata"].update(timestamp="yesterday"),
            "type": lambda d: d["components"][0].pop("type"),
            "name is missing": lambda d: d["components"][0].pop("name"),
            "purl": lambda d: d["components"][0].update(purl="deep 1.0.0"),
            "licence": lambda d: d["components"][0].update(licenses=[{"expression": "MIT/Zlib"}]),
            "wrong digits": lambda d: d["components"][0]["hashes"][0].update(content="ab"),
            "not unique": lambda d: d["components"].append(d["components"][0]),
            "no component": lambda d: d["components"].pop(),
            "several lists": lambda d: d["dependencies"].append(d["dependencies"][0]),
        }
        for problem, change in changes.items():
            with self.subTest(problem):
                document = copy.deepcopy(self.document)
                change(document)
                self.assertIn(problem, "; ".join(sbom.problems(document)))
                with self.assertRaisesRegex(ValueError, "not valid"):
                    sbom.text(document)


if __name__ == "__main__":
    unittest.main()
