"""Values for the parameters of a query."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from . import _native

_SETS = ("params", "parameters")


def bound(query: str, params: Any, named: dict[str, Any]) -> tuple[dict[str, Any], int]:
    """The values by name, and how many have none. Those are called 1, 2 and so on.

    ``params`` and ``parameters`` are also taken as keywords, as DuckDB does, unless the query has a
    parameter of that name.
    """
    values = dict(named)
    for key in _SETS:
        if key in values and params is None and not re.search(rf"\${key}\b", query):
            params = values.pop(key)
    unnamed: list[Any] = []
    if isinstance(params, Mapping):
        for name, value in params.items():
            if not isinstance(name, str):
                raise TypeError(f"names of parameters are texts, not {_type(name)}")
            values.setdefault(name.removeprefix("$"), value)
    elif isinstance(params, (list, tuple)):
        unnamed = list(params)
    elif params is not None:
        raise TypeError(
            "parameters come as a list or tuple for ? and $1, as a dict or keywords for $name, "
            f"not as {_type(params)}; write [value] for a single one"
        )
    values.update({str(at): value for at, value in enumerate(unnamed, 1)})
    return {name: _plain(value) for name, value in values.items()}, len(unnamed)


def _plain(value: Any) -> Any:
    """Lists for everything that is a list of values: also tuples, sets, arrays and series."""
    if isinstance(value, (list, tuple, set, frozenset, range)):
        return list(value)
    if isinstance(value, (str, bytes, int, float)) or value is None:
        return value
    for convert in ("to_pylist", "to_list", "tolist"):
        method = getattr(value, convert, None)
        if callable(method):
            converted = method()
            # Scalars of numpy have this method too.
            return converted if isinstance(converted, list) else value
    return value


def check(query: object) -> str:
    """The query, if it is a text."""
    if not isinstance(query, str):
        raise TypeError(f"a query is a text, not {_type(query)}")
    return query


def _type(value: object) -> str:
    return type(value).__name__


#: What a closed session answers.
CLOSED = "this session is closed; open the traces again with tracesql.open"


def closed() -> _native.UsageError:
    """The error for anything that a closed session is asked."""
    return _native.UsageError(CLOSED)
