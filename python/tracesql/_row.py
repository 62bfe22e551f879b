"""Rows of results."""

from __future__ import annotations

from operator import itemgetter
from typing import Any, Iterable, overload


class Row(tuple):  # type: ignore[type-arg]
    """A row: a tuple whose values can also be had by the names of their columns.

    >>> row["name"], row.name, row[0], dict(row)
    """

    _fields: tuple[str, ...] = ()
    __slots__ = ()

    @overload  # type: ignore[override]
    def __getitem__(self, key: str) -> Any: ...
    @overload
    def __getitem__(self, key: int) -> Any: ...
    @overload
    def __getitem__(self, key: slice) -> tuple[Any, ...]: ...
    def __getitem__(self, key: Any) -> Any:
        if isinstance(key, str):
            try:
                return tuple.__getitem__(self, self._fields.index(key))
            except ValueError:
                raise KeyError(f"{key!r}; there is {', '.join(self._fields)}") from None
        return tuple.__getitem__(self, key)

    def __getattr__(self, name: str) -> Any:
        # Columns are attributes of the row's own class, see kind().
        raise AttributeError(f"the row has no column {name}; it has {', '.join(self._fields)}")

    def keys(self) -> tuple[str, ...]:
        """Names of the columns."""
        return self._fields

    def _asdict(self) -> dict[str, Any]:
        """The row as a dict, as named tuples have it."""
        return dict(zip(self._fields, self))

    def __reduce__(self) -> tuple[Any, ...]:
        return _again, (self._fields, tuple(self))

    def __repr__(self) -> str:
        values = ", ".join(f"{name}={value!r}" for name, value in zip(self._fields, self))
        return f"Row({values})"


def kind(names: Iterable[str]) -> type[Row]:
    """The class of rows with these columns.

    Columns are attributes, like those of named tuples. Of the methods of tuples they replace
    ``count`` and ``index``; ``row["keys"]`` reads a column that has the name of a method of rows.
    """
    fields = tuple(names)
    space: dict[str, Any] = {"_fields": fields, "__slots__": ()}
    for at, name in enumerate(fields):
        if name not in vars(Row) and not name.startswith("_"):
            space.setdefault(name, property(itemgetter(at)))
    return type("Row", (Row,), space)


def _again(fields: tuple[str, ...], values: tuple[Any, ...]) -> Row:
    return kind(fields)(values)
