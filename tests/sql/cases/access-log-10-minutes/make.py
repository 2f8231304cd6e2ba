#!/usr/bin/env python3
"""make.py DATA IN: the real log, with garbage between its lines and some lines that come hours late."""
import os
import sys


def main():
    data, target = sys.argv[1:3]
    with open(os.path.join(data, "access.log"), "rb") as f:
        lines = f.read().splitlines(keepends=True)
    late = [lines.pop(i) for i in (40, 500, 1200, 1201, 3000)]
    lines[7000:7000] = late[:3]
    lines[9000:9000] = late[3:]
    for at, garbage in ((0, b"not a log line\n"), (555, b"\xff\xfe\x00\n"), (4321, b"\n"),
                        (5000, b'10.0.0.1 - - [31/Feb/2015:10:05:03 +0000] "GET /x HTTP/1.1" 200 1 "-" "-"\n')):
        lines.insert(at, garbage)
    with open(os.path.join(target, "access.log"), "wb") as f:
        f.write(b"".join(lines))


main()
