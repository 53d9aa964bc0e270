"""Each part has a licence text, and equal texts appear once."""

import tempfile
import unittest
from pathlib import Path

from release.licences import LARGEST, collected, texts
from release.parts import Part


class Licences(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def part(self, name, licence="MIT", authors=(), **files):
        home = self.folder / name
        home.mkdir()
        for file, text in files.items():
            (home / file.replace("__", ".")).write_text(text)
        return Part("cargo", name, "1.0.0", licence, home, authors)

    def test_equal_texts_appear_once_with_all_their_parts(self):
        one = self.part("one", LICENSE="Do what\r\nyou want. \n\n")
        two = self.part("two", COPYING="\nDo what\nyou want.\n", NOTICE="Made by two.\n")
        text = collected([one, two], "the apache text")
        self.assertEqual(text.count("Do what\nyou want."), 1)
        self.assertIn("one 1.0.0, two 1.0.0\n", text)
        self.assertIn("Made by two.", text)

    def test_source_files_are_no_licences(self):
        part = self.part("one", LICENSE="text", licenses__rs="fn main() {}")
        self.assertEqual(texts(part, ""), ["text"])

    def test_a_part_without_a_file_gets_the_text_of_its_licence(self):
        apache = self.part("a", "MIT OR Apache-2.0")
        self.assertEqual(texts(apache, "the apache text"), ["the apache text"])
        mit = self.part("b", "MIT", ("Ada <ada@example.org>", "Grace"))
        self.assertIn("Copyright (c) Ada, Grace\n", texts(mit, "")[0])

    def test_a_part_without_file_and_known_text_is_refused(self):
        for licence in ("BSD-3-Clause", "Apache-2.0 AND ISC", ""):
            part = Part("cargo", "odd", "1.0.0", licence, self.folder)
            with self.subTest(licence), self.assertRaisesRegex(ValueError, "odd 1.0.0"):
                texts(part, "the apache text")

    def test_a_file_that_is_too_large_is_refused(self):
        with self.assertRaisesRegex(ValueError, "larger than 256 KiB"):
            texts(self.part("one", LICENSE="x" * (LARGEST + 1)), "")

    def test_missing_files_of_a_part_are_an_error(self):
        with self.assertRaisesRegex(ValueError, "make build"):
            texts(Part("npm", "gone", "1.0.0", "MIT", self.folder / "gone"), "")


if __name__ == "__main__":
    unittest.main()
