"""The strict conversion between the fields of a case and JSON: no field is dropped, added or coerced."""

from __future__ import annotations

import functools
import math
import typing
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import cattrs
from cattrs.gen import make_dict_structure_fn, make_dict_unstructure_fn, override

from autoprop._errors import CorpusError

if TYPE_CHECKING:
    from .record import Case

__all__ = ["structure", "unstructure"]


def _exact(kind: type) -> Callable[[Any, Any], Any]:
    def hook(value: Any, _: Any) -> Any:
        if type(value) is not kind:
            raise ValueError(f"must be of type {kind.__name__}, but is {value!r:.60}")
        return value

    return hook


def _real(value: Any, _: Any) -> float:
    if value in ("nan", "inf", "-inf") or (type(value) in (int, float) and math.isfinite(value)):
        return float(value)
    raise ValueError(f'must be a number, "nan", "inf" or "-inf", but is {value!r:.60}')


def _object(value: Any, _: Any) -> dict[str, Any]:
    if type(value) is not dict:
        raise ValueError(f"must be an object, but is {value!r:.60}")
    return value


def _is_tuple(kind: Any) -> bool:
    return typing.get_origin(kind) is tuple


def _tuple(kind: Any, converter: cattrs.Converter) -> Callable[[Any, Any], Any]:
    items = typing.get_args(kind)

    def hook(value: Any, _: Any) -> Any:
        if type(value) is not list:
            raise ValueError(f"must be a list, but is {value!r:.60}")
        if items[-1] is Ellipsis:
            return tuple(converter.structure(item, items[0]) for item in value)
        if len(value) != len(items):
            raise ValueError(f"must have {len(items)} items, but is {value!r:.60}")
        return tuple(converter.structure(item, each) for item, each in zip(value, items, strict=True))

    return hook


@functools.cache
def _converter() -> cattrs.Converter:
    from .record import Case

    converter = cattrs.Converter(forbid_extra_keys=True)
    for kind in (str, int, bool):
        converter.register_structure_hook(kind, _exact(kind))
    converter.register_structure_hook(float, _real)
    converter.register_structure_hook_func(lambda kind: kind == dict[str, Any], _object)
    converter.register_structure_hook_factory(_is_tuple, lambda kind: _tuple(kind, converter))
    converter.register_unstructure_hook(float, lambda value: value if math.isfinite(value) else str(value))
    converter.register_unstructure_hook_func(
        _is_tuple, lambda value: [converter.unstructure(item, type(item)) for item in value]
    )
    converter.register_structure_hook(
        Case, make_dict_structure_fn(Case, converter, _cattrs_forbid_extra_keys=True, name=override(omit=True))
    )
    converter.register_unstructure_hook(
        Case,
        make_dict_unstructure_fn(
            Case, converter, name=override(omit=True), arguments=override(unstruct_hook=lambda value: value)
        ),
    )
    return converter


def unstructure(case: Case) -> dict[str, Any]:
    """
    Return the fields of a case as JSON-able values, in their order.
    """
    fields: dict[str, Any] = _converter().unstructure(case)
    return fields


def structure(fields: dict[str, Any], name: str) -> Case:
    """
    Return the case with these fields.

    Args:
        fields: what `unstructure` returned, or what a file claims it did.
        name: the file, for errors.
    """
    from .record import Case

    try:
        case: Case = _converter().structure(fields, Case)
    except CorpusError as error:
        raise CorpusError(f"{name}: {error}") from None
    except (cattrs.BaseValidationError, TypeError, ValueError) as error:
        raise CorpusError(f"{name}: {'; '.join(cattrs.transform_error(error, format_exception=_say))}") from None
    return case.replace(name=name)


def _say(error: BaseException, kind: type | None) -> str:
    if isinstance(error, KeyError):
        return f"the field {error.args[0]!r} is missing"
    return str(error) if isinstance(error, ValueError) else cattrs.v.format_exception(error, kind)
