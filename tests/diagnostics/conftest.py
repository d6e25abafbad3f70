"""Every JSON report that `promoarray compare` makes in a test is of its schema."""

from __future__ import annotations

import json
from functools import cache
from typing import Any

import pytest

from promoarray.diagnostics.compare import output


@cache
def _validator() -> Any:
    """Made once: it looks at the whole schema first."""
    import jsonschema  # of the extra `test`; it takes a while to import

    return jsonschema.Draft202012Validator(json.loads(output.SCHEMA.read_text(encoding="utf-8")))


@pytest.fixture(autouse=True)
def _reports_are_of_their_schema(monkeypatch: pytest.MonkeyPatch) -> None:
    made = output.report_data

    def checked(compared: output.Compared) -> dict[str, Any]:
        data = made(compared)
        _validator().validate(json.loads(json.dumps(data)))
        return data

    monkeypatch.setattr(output, "report_data", checked)
