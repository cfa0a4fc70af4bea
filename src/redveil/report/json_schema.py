"""The result file's JSON Schema, made from the document's classes.

It is published beside this file as `result.schema.json`; `scripts/result-schema` prints it anew.
"""

from __future__ import annotations

import json

from redveil.report.document import FORMAT_VERSION, ResultDocument


def result_schema_text() -> str:
    """Return the JSON Schema of a result file, as it is published.

    >>> json.loads(result_schema_text())["title"]
    'redveil result'
    """
    schema = ResultDocument.model_json_schema(by_alias=True)
    head = {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": f"urn:redveil:result:{FORMAT_VERSION}",
        "title": "redveil result",
    }
    return (
        json.dumps({**head, **{k: v for k, v in schema.items() if k != "title"}}, indent=2) + "\n"
    )
