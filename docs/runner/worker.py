"""The worker process of `interpreter`: runs Python blocks in one namespace.

A request is a line of JSON on standard input. An answer is a line on standard output. The output of
the code goes to standard error.
"""

import json
import os
import sys
import traceback


def main() -> None:
    answers = os.fdopen(os.dup(1), "w", buffering=1)
    os.dup2(2, 1)
    sys.path[0] = ""
    names = {"__name__": "__main__"}
    for line in sys.stdin:
        request = json.loads(line)
        os.chdir(request["folder"])
        try:
            exec(compile(request["code"], request["page"], "exec"), names)
            answer = "done"
        except SystemExit as error:
            answer = "done" if error.code in (None, 0) else f"exited: {error.code}"
        except BaseException:
            traceback.print_exc()
            answer = "raised an error"
        sys.stdout.flush()
        sys.stderr.flush()
        print(" ".join(answer.split()), file=answers)


main()
