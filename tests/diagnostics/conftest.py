"""Every JSON report that `promoarray compare` makes in a test is of its schema."""

from __future__ import annotations

import json
from typing import Any

import pytest

from promoarray.diagnostics.compare import output


@pytest.fixture(autouse=True)
def _reports_are_of_their_schema(monkeypatch: pytest.MonkeyPatch) -> None:
    made = output.report_data

    def checked(compared: output.Compared) -> dict[str, Any]:
        import jsonschema  # of the extra `test`; it takes a while to import

        data = made(compared)
        schema = json.loads(output.SCHEMA.read_text(encoding="utf-8"))
        jsonschema.validate(json.loads(json.dumps(data)), schema, jsonschema.Draft202012Validator)
        return data

    monkeypatch.setattr(output, "report_data", checked)
