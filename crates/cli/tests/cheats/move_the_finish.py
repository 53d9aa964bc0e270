"""Moves objects of the world, and switches to, deletes and installs other worlds."""

from urllib.parse import quote

from cheat import API, post, request, state

for name in [*list(state()["objects"])[:5], "start_line", "finish", "track"]:
    post(f"/models/{quote(name)}/pose", {"x": 0, "y": 0})
post("/switch", {"world": "field.world"})
for path in ("/worlds/oval", "/worlds/install", "/install"):
    status, _ = request(API + path, {}, "DELETE")
    post(path, {"id": "0" * 32})
    print("refused" if status != 200 else "gained", "DELETE", path, status)
