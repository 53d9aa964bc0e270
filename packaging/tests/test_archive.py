"""Archives have the same bytes for the same files, and other programs can read them."""

import gzip
import io
import lzma
import tarfile
import unittest

from release.archive import File, ar, folders, gz, tar, xz

FILES = {"usr/bin/tool": File(b"#!/bin/sh\n", 0o755), "etc/tool": File(b"a=1\n", 0o600)}
EPOCH = 1_700_000_000


class Archives(unittest.TestCase):
    def test_order_of_files_does_not_change_the_bytes(self):
        turned = dict(reversed(FILES.items()))
        self.assertEqual(tar(FILES, EPOCH), tar(turned, EPOCH))
        self.assertNotEqual(tar(FILES, EPOCH), tar(FILES, EPOCH + 1))

    def test_tar_has_folders_before_their_files_and_belongs_to_root(self):
        with tarfile.open(fileobj=io.BytesIO(tar(FILES, EPOCH, "./"))) as archive:
            members = archive.getmembers()
            self.assertEqual(
                [(each.name, oct(each.mode), each.isdir()) for each in members],
                [
                    ("./etc", "0o755", True),
                    ("./etc/tool", "0o600", False),
                    ("./usr", "0o755", True),
                    ("./usr/bin", "0o755", True),
                    ("./usr/bin/tool", "0o755", False),
                ],
            )
            owners = {(each.uid, each.gid, each.uname, each.mtime) for each in members}
            self.assertEqual(owners, {(0, 0, "root", EPOCH)})
            self.assertEqual(archive.extractfile("./etc/tool").read(), b"a=1\n")

    def test_folders_of_a_path(self):
        self.assertEqual(folders(["a/b/c", "a/d", "e"]), ["a", "a/b"])

    def test_compression_keeps_the_content_and_no_time(self):
        content = b"road " * 1000
        self.assertEqual(gzip.decompress(gz(content)), content)
        self.assertEqual(gz(content)[4:8], b"\0\0\0\0")
        self.assertEqual(lzma.decompress(xz(content)), content)

    def test_ar_pads_odd_members_and_refuses_long_names(self):
        written = ar([("debian-binary", b"2.0\n"), ("odd", b"x"), ("last", b"yy")], EPOCH)
        self.assertEqual(len(written), 8 + 60 + 4 + 60 + 2 + 60 + 2)
        self.assertTrue(
            written.startswith(b"!<arch>\ndebian-binary   1700000000  0     0     100644")
        )
        with self.assertRaisesRegex(ValueError, "at most 15"):
            ar([("a-name-of-sixteen", b"")], EPOCH)


if __name__ == "__main__":
    unittest.main()
