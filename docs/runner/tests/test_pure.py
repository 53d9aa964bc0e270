"""Tests of blocks, comparisons and schemas. They run without the program."""

import unittest

from runner import expected, markdown, schema
from runner.bodies import unlike
from runner.shell import dialogue


def blocks(text: str) -> list[markdown.Block]:
    return markdown.read(text)[0]


class Blocks(unittest.TestCase):
    def test_block_has_line_language_and_remark(self):
        text = "One.\n\n<!-- docs: fails -->\n```sh\nls\n```\n\n    ```\n    a\n    ```\n"
        first, second = blocks(text)
        self.assertEqual((first.line, first.language, first.text), (5, "sh", "ls\n"))
        self.assertEqual(first.remark, "fails")
        self.assertEqual((second.line, second.language, second.text), (9, "", "a\n"))
        self.assertIsNone(second.remark)

    def test_standalone_remarks_are_in_order(self):
        text = "<!-- docs: stop a -->\n<!-- docs: stop b -->\n\n```sh\nls\n```\n"
        found = [(b.line, b.language, b.remark) for b in blocks(text)]
        self.assertEqual(found, [(1, "", "stop a"), (2, "", "stop b"), (5, "sh", None)])

    def test_file_name_is_read_from_the_text_before(self):
        text = "Words. Save this\nas `a/b.py`:\n\n```python\n1\n```\n\nNot `c`:\n```sh\nls\n```\n"
        self.assertEqual([b.save_as for b in blocks(text)], ["a/b.py", None])

    def test_longer_fence_contains_shorter_ones(self):
        [block] = blocks("````text\n```sh\nls\n```\n````\n")
        self.assertEqual(block.text, "```sh\nls\n```\n")

    def test_block_without_end_is_an_error(self):
        with self.assertRaises(markdown.PageError) as caught:
            markdown.read("a\n```sh\nls\n")
        self.assertEqual(caught.exception.line, 2)

    def test_commands_and_outputs_of_a_console_block(self):
        [block] = blocks("```console\n$ for a in 1; do\n>   echo $a\n> done\n1\n$ true\n```\n")
        commands = [(2, "for a in 1; do\n  echo $a\ndone\n", "1"), (6, "true\n", "")]
        self.assertEqual(dialogue(block), commands)


class Comparisons(unittest.TestCase):
    def agree(self, shown: str, came: str):
        self.assertIsNone(expected.difference(shown, came))

    def differ(self, shown: str, came: str):
        self.assertIsNotNone(expected.difference(shown, came))

    def test_equal_outputs_match(self):
        self.agree("a (b)\nc", "a (b)\nc\n")
        self.differ("a", "b\n")
        self.differ("a", "a\nb\n")
        self.differ("a\nb", "a\n")
        self.differ("a", "")
        self.differ("a.c", "abc")

    def test_dots_within_a_line_match_only_that_line(self):
        self.agree("took … s", "took 1.5 s\n")
        self.agree("{…}", "{}")
        self.differ("a…c", "a\nc\n")
        self.differ("took … s", "took 1.5 m\n")

    def test_line_of_dots_matches_any_lines(self):
        self.agree("a\n…\nd", "a\nb\nc\nd\n")
        self.agree("a\n…\nd", "a\nd\n")
        self.agree("…\nd", "d")
        self.agree("a\n…", "a")
        self.agree("…", "")
        self.differ("a\n…\nd", "a\nb\n")

    def test_excerpts_are_literal(self):
        source = "fn a() {\n    one();\n    two();\n    three();\n}\nfn b() {\n    one();\n}\n"
        self.assertIsNone(expected.not_in("fn b() {\none();\n}", source))
        self.assertIsNone(expected.not_in("one();\n// …\nthree();", source))
        self.assertEqual(expected.not_in("one();\nthree();", source), (1, "three();"))
        self.assertEqual(expected.not_in("fn b() {\n…\ntwo();", source), (2, "two();"))

    def test_answers_with_dots_may_omit_entries(self):
        came = {"a": 1, "b": [1, 2, 3], "c": {"d": True}}
        for shown in (came, {"a": "…", "…": "…"}, {"a": 1, "b": [1, "…"], "c": "…"}):
            self.assertIsNone(unlike(shown, came, "it"), shown)
        for shown in ({"a": 1}, {"a": 2, "…": 0}, {"e": 1, "…": 0}, {"b": [1, 2], "…": 0}):
            self.assertIsNotNone(unlike(shown, came, "it"), shown)
        self.assertIsNotNone(unlike({"d": 1}, {"d": True}, "it"))


class Schemas(unittest.TestCase):
    def test_rules_are_checked(self):
        node = {"type": "array", "items": {"type": "number"}, "minItems": 2, "maxItems": 2}
        document = {
            "type": "object",
            "properties": {
                "n": {"type": "integer", "minimum": 1, "exclusiveMaximum": 5},
                "s": {"type": ["string", "null"], "pattern": "^a", "maxLength": 3},
                "at": {"$ref": "#/$defs/node"},
                "one": {"oneOf": [{"const": 1}, {"enum": [2, 3]}]},
            },
            "required": ["n"],
            "additionalProperties": False,
            "$defs": {"node": node},
        }
        good = {"n": 1.0, "s": None, "at": [0, 0.5], "one": 3}
        self.assertEqual(schema.problems(good, document, document), [])
        for key, wrong in [
            ("n", 0),
            ("n", 5),
            ("n", 1.5),
            ("n", True),
            ("s", "b"),
            ("s", "abcd"),
            ("at", [1]),
            ("at", [1, "2"]),
            ("one", 4),
            ("x", 1),
        ]:
            self.assertTrue(schema.problems(good | {key: wrong}, document, document), (key, wrong))
        self.assertEqual(schema.problems({}, document, document), ["it.n is missing"])

    def test_unknown_keyword_is_an_error(self):
        with self.assertRaises(ValueError):
            schema.problems(1, {"multipleOf": 2}, {})
