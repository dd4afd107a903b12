"""JSON for the domain's dataclasses: strict reading, published schemas, and no bare NaN.

JSON knows no NaN. Non-finite numbers are written as "nan", "inf" and "-inf" and read back.
"""

from __future__ import annotations

import json
from typing import Annotated, Any, TypeVar

from pydantic import AfterValidator, GetCoreSchemaHandler, PlainSerializer, TypeAdapter, ValidationError
from pydantic.json_schema import GenerateJsonSchema, JsonSchemaValue

from harness.domain.verdicts.reasons import Reason, recorded, text
from harness.probe.results import portable

T = TypeVar("T")
NONFINITE = ("nan", "inf", "-inf")


class Malformed(ValueError):
    """The text is not what the type says; its message names the first wrong place."""


class _Schema(GenerateJsonSchema):
    def float_schema(self, schema: Any) -> JsonSchemaValue:
        return {"anyOf": [super().float_schema(schema), {"enum": list(NONFINITE)}]}


ReasonText = Annotated[str, AfterValidator(recorded), PlainSerializer(text, return_type=str)]


def _reason_schema(_cls: type[Reason], _source: object, handler: GetCoreSchemaHandler) -> object:
    return handler.generate_schema(ReasonText)


# In JSON a reason is its sentence, as it was before it had fields: reports stay as they are, and what an older
# version wrote is read. The hook is set here because the domain knows nothing of pydantic.
setattr(Reason, "__get_pydantic_core_schema__", classmethod(_reason_schema))  # noqa: B010

_ADAPTERS: dict[object, TypeAdapter[Any]] = {}  # building one costs milliseconds


def _adapter(kind: type[T]) -> TypeAdapter[T]:
    if kind not in _ADAPTERS:
        _ADAPTERS[kind] = TypeAdapter(kind)
    return _ADAPTERS[kind]


def to_json(kind: type[T], value: T) -> Any:
    """Return plain JSON values."""
    return portable(_adapter(kind).dump_python(value, mode="json"))


def dumps(kind: type[T], value: T, *, indent: int | None = None) -> str:
    """Return JSON text in ASCII, so that no terminal escape and no unknown encoding can come out of it."""
    return json.dumps(to_json(kind, value), allow_nan=False, indent=indent)


def loads(kind: type[T], text: str | bytes) -> T:
    """Read JSON text back; raises `Malformed`."""
    try:
        read: T = _adapter(kind).validate_json(text)
    except (ValidationError, RecursionError) as error:
        first = error.errors()[0] if isinstance(error, ValidationError) else {"loc": (), "msg": str(error)}
        raise Malformed(f"{'.'.join(map(str, first['loc']))}: {first['msg']}") from error
    return read


def schema(kind: type[Any]) -> dict[str, Any]:
    """Return the JSON Schema of what `dumps` writes."""
    return _adapter(kind).json_schema(mode="serialization", schema_generator=_Schema)
