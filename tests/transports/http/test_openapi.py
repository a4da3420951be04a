"""The OpenAPI document: valid, whole, and true."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import jsonschema
import pytest
from server_process import SCRIPT
from toy_dialect import TOY

from mnemic.app import dialect
from mnemic.dialects.execution import answer
from mnemic.transports.http.openapi import document

MNEMIC = dialect("mnemic")
AI_MEMORY = dialect("ai-memory")

API = document([MNEMIC, TOY, AI_MEMORY])


def parts(part: Any) -> Iterator[dict[str, Any]]:
    """*part* and every object in it."""
    if isinstance(part, dict):
        yield part
        part = list(part.values())
    if isinstance(part, list):
        for item in part:
            yield from parts(item)


def resolved(reference: str) -> Any:
    """What *reference* points at."""
    assert reference.startswith("#/")
    part: Any = API
    for key in reference[2:].split("/"):
        part = part[key]
    return part


def check(value: Any, schema: dict[str, Any]) -> None:
    """Validate *value* against *schema* with the document's components at hand."""
    jsonschema.Draft202012Validator({**schema, "components": API["components"]}).validate(value)


def operations() -> Iterator[tuple[str, str, dict[str, Any]]]:
    for path, verbs in API["paths"].items():
        for verb, part in verbs.items():
            yield path, verb, part


def test_it_is_the_version_it_says_and_has_what_it_must():
    assert API["openapi"] == "3.1.0"
    assert API["info"].keys() >= {"title", "version"}
    ids = [part["operationId"] for _, _, part in operations()]
    assert len(ids) == len(set(ids))
    tags = {tag["name"] for tag in API["tags"]}
    assert all(set(part.get("tags", ())) <= tags for _, _, part in operations())


def test_every_reference_leads_somewhere():
    references = [part["$ref"] for part in parts(API) if "$ref" in part]
    assert references and all(resolved(reference) for reference in references)


def test_every_schema_is_one():
    for schema in API["components"]["schemas"].values():
        jsonschema.Draft202012Validator.check_schema(schema)


def test_every_operation_is_there_with_its_errors():
    for spoken in (MNEMIC, TOY):
        for operation in spoken.operations.values():
            part = API["paths"][f"/api/v1/tools/{spoken.name}/{operation.name}"]["post"]
            assert part["description"] == operation.description
            assert {"200", "400", "404", "409", "413", "500", "503"} <= part["responses"].keys()


def test_endpoints_are_there_with_their_status_and_their_body():
    add = API["paths"]["/api/v1/add"]["post"]
    assert "201" in add["responses"] and "200" not in add["responses"]
    body = API["paths"]["/api/v1/add/all"]["put"]["requestBody"]["content"]["application/json"]["schema"]
    check([1, 2], body)
    with pytest.raises(jsonschema.ValidationError):
        check({"numbers": [1]}, body)
    assert "/api/v1/tools/toy/add" not in API["paths"]


def test_the_endpoints_of_ai_memory_are_all_there():
    declared = [route for operation in AI_MEMORY.endpoints.values() for route in operation.http]
    assert len(declared) == len(set(declared)) == 23  # and health
    for route in declared:
        verb, path = route.split()
        assert verb.lower() in API["paths"][f"/api/v1{path}"]
    change = API["paths"]["/api/v1/memories/{id}"]["put"]
    schema = change["requestBody"]["content"]["application/json"]["schema"]
    assert "title" in schema["properties"] and "id" not in schema["properties"]
    assert "requestBody" not in API["paths"]["/api/v1/memories/{id}/promote"]["post"]


@pytest.mark.parametrize(
    "path, is_required",
    [
        ("/tools/mnemic/recall", True),
        ("/tools/mnemic/stats", False),
        ("/memories/bulk", True),
    ],
)
def test_a_body_is_required_where_an_argument_in_it_is(path, is_required):
    assert API["paths"][f"/api/v1{path}"]["post"]["requestBody"]["required"] is is_required


def test_a_reply_that_may_be_a_text_says_so():
    def kinds(path: str) -> list[str]:
        return list(API["paths"][f"/api/v1{path}"]["post"]["responses"]["200"]["content"])

    assert kinds("/tools/ai-memory/memory_recall") == ["application/json", "text/plain"]
    assert kinds("/tools/mnemic/recall") == ["application/json"]


def test_path_parameters_are_declared():
    for path, _, part in operations():
        declared = {one["name"] for one in part.get("parameters", ()) if one["in"] == "path"}
        assert declared == {piece[1:-1] for piece in path.split("/") if piece.startswith("{")}
    get = API["paths"]["/api/v1/greet/{name}"]["get"]
    assert [(one["in"], one["name"], one["required"]) for one in get["parameters"]] == [
        ("path", "name", True),
        ("query", "times", False),
        ("query", "tags", False),
    ]
    assert "requestBody" not in get


def test_examples_are_valid():
    for _, _, part in operations():
        content = part.get("requestBody", {}).get("content", {}).get("application/json", {})
        for example in content.get("examples", {}).values():
            check(example["value"], content["schema"])


@pytest.fixture
def script(ctx):
    """Every call of the script with its answer."""
    return [(name, arguments, answer(MNEMIC, ctx, name, arguments)) for name, arguments in SCRIPT]


def test_requests_and_replies_are_as_described(script):
    for name, arguments, outcome in script:
        part = API["paths"][f"/api/v1/tools/mnemic/{name}"]["post"]
        check(arguments, part["requestBody"]["content"]["application/json"]["schema"])
        check(outcome.rendered.structured, part["responses"]["200"]["content"]["application/json"]["schema"])
