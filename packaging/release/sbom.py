"""The list of all parts of the program (SBOM) as a CycloneDX document, and a check of its fields.

The document has no random part: its serial number is computed from its content, and its time is
that of the release.
"""

import json
import re
import uuid
from collections import Counter
from datetime import UTC, datetime
from typing import Any

from .parts import Part, purl

Document = dict[str, Any]

SPEC = "1.6"
SERIAL = re.compile(r"urn:uuid:[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")
TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ")
PURL = re.compile(r"pkg:(cargo|npm|generic)/(%40[\w.-]+/)?[\w.-]+@[\w.+-]+")
LICENCE = re.compile(r"\(?[\w.-]+\)?( (OR|AND|WITH) \(?[\w.-]+\)?)*")
HASH_DIGITS = {"SHA-1": 40, "SHA-256": 64, "SHA-384": 96, "SHA-512": 128}
# The types of CycloneDX 1.6 that this document uses.
TYPES = ("application", "library")


def document(version: str, parts: list[Part], epoch: int) -> Document:
    """The document for a version of the program."""
    own = purl("generic", "chicane", version)
    used = {need for part in parts for need in part.needs}
    known = {part.purl for part in parts}
    tree = [
        # The program needs each part that no other part needs.
        {"ref": own, "dependsOn": sorted(known - used)},
        *({"ref": part.purl, "dependsOn": sorted(set(part.needs) & known)} for part in parts),
    ]
    made = datetime.fromtimestamp(epoch, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    body: Document = {
        "bomFormat": "CycloneDX",
        "specVersion": SPEC,
        "version": 1,
        "metadata": {
            "timestamp": made,
            "component": {
                "type": "application",
                "bom-ref": own,
                "name": "chicane",
                "version": version,
                "purl": own,
                "licenses": [{"expression": "Apache-2.0"}],
            },
        },
        "components": [component(part) for part in parts],
        "dependencies": tree,
    }
    serial = uuid.uuid5(uuid.NAMESPACE_URL, json.dumps(body, sort_keys=True))
    return {**body, "serialNumber": f"urn:uuid:{serial}"}


def component(part: Part) -> Document:
    """The description of a part."""
    described: Document = {
        "type": "library",
        "bom-ref": part.purl,
        "name": part.name,
        "version": part.version,
        "purl": part.purl,
        "licenses": [{"expression": part.licence}],
    }
    if part.hashes:
        described["hashes"] = [{"alg": kind, "content": digits} for kind, digits in part.hashes]
    return described


def problems(document: Document) -> list[str]:
    """What CycloneDX requires and the document lacks. Empty if the document is valid."""
    found = [
        f"{name} must be {wanted!r}"
        for name, wanted in (("bomFormat", "CycloneDX"), ("specVersion", SPEC), ("version", 1))
        if document.get(name) != wanted
    ]
    if not SERIAL.fullmatch(str(document.get("serialNumber"))):
        found.append("serialNumber must be a UUID as urn:uuid:…")
    metadata = document.get("metadata", {})
    if not TIME.fullmatch(str(metadata.get("timestamp"))):
        found.append("metadata.timestamp must be a time in UTC")
    components = [metadata.get("component", {}), *document.get("components", [])]
    for each in components:
        found += [f"{each.get('name')}: {problem}" for problem in component_problems(each)]
    references = [str(each.get("bom-ref")) for each in components]
    found += [f"the reference {each} is not unique" for each in repeated(references)]
    nodes = document.get("dependencies", [])
    found += [
        f"{each} has several lists of dependencies"
        for each in repeated([node["ref"] for node in nodes])
    ]
    named = {node["ref"] for node in nodes} | {each for node in nodes for each in node["dependsOn"]}
    found += [f"the dependency {each} is no component" for each in sorted(named - set(references))]
    for node in nodes:
        found += [f"{node['ref']} lists {each} twice" for each in repeated(node["dependsOn"])]
    return found


def component_problems(described: Document) -> list[str]:
    """What is wrong with the description of a part."""
    found = []
    if described.get("type") not in TYPES:
        found.append(f"type must be one of {', '.join(TYPES)}")
    found += [
        f"{name} is missing" for name in ("name", "version", "bom-ref") if not described.get(name)
    ]
    if not PURL.fullmatch(str(described.get("purl"))):
        found.append("purl must be a package URL")
    for entry in described.get("licenses", [{}]):
        if not LICENCE.fullmatch(str(entry.get("expression", ""))):
            found.append("the licence must be an SPDX expression")
    for each in described.get("hashes", []):
        digits = HASH_DIGITS.get(each.get("alg"), 0)
        if not digits or not re.fullmatch(rf"[0-9a-f]{{{digits}}}", each.get("content", "")):
            found.append(f"the hash {each.get('alg')} has wrong digits")
    return found


def repeated(names: list[str]) -> list[str]:
    """The names that occur more than once."""
    return sorted(name for name, count in Counter(names).items() if count > 1)


def text(document: Document) -> str:
    """The document as JSON, with sorted keys. Raises `ValueError` if it is not valid."""
    if wrong := problems(document):
        raise ValueError(f"the SBOM is not valid: {'; '.join(wrong[:5])}")
    return json.dumps(document, indent=1, sort_keys=True, ensure_ascii=False) + "\n"
