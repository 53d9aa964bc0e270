"""A student's program that drives and then raises an exception.

The exception is raised 0.1 + 0.1 n seconds after the start of the drive, where n is the argument.
"""

import json
import os
import sys
import time
import urllib.request

URL = os.environ["CHICANE_URL"] + "/speed"
request = urllib.request.Request(
    URL, json.dumps({"value": 0.7}).encode(), {"Content-Type": "application/json"}
)
urllib.request.urlopen(request).close()
time.sleep(0.1 + 0.1 * int(sys.argv[1]))
raise RuntimeError("this program crashes")
