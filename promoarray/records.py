"""``NamedTuple`` and ``dataclass`` as the standard library has them, made without compiling.

``typing.NamedTuple`` and ``dataclasses.dataclass`` write source text for every class and compile
it, which took two fifths of ``import promoarray``. Here a constructor is one of a few that exist,
under the names of the fields, and what else a record needs is a function that all of them share.
Type checkers see the standard library's.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

__all__ = ["NamedTuple", "dataclass", "field", "replace"]

if TYPE_CHECKING:
    from dataclasses import dataclass, field, replace
    from typing import NamedTuple
else:
    import operator
    from collections import _tuplegetter
    from reprlib import recursive_repr
    from types import FunctionType

    # --- Named tuples ----------------------------------------------------------------------------

    new = tuple.__new__

    # By the number of fields. What a function does with its arguments hangs on their places alone,
    # so one with other names for them is a copy.
    _CONSTRUCTORS = (
        lambda cls: new(cls),
        lambda cls, a: new(cls, (a,)),
        lambda cls, a, b: new(cls, (a, b)),
        lambda cls, a, b, c: new(cls, (a, b, c)),
        lambda cls, a, b, c, d: new(cls, (a, b, c, d)),
        lambda cls, a, b, c, d, e: new(cls, (a, b, c, d, e)),
        lambda cls, a, b, c, d, e, f: new(cls, (a, b, c, d, e, f)),
        lambda cls, a, b, c, d, e, f, g: new(cls, (a, b, c, d, e, f, g)),
        lambda cls, a, b, c, d, e, f, g, h: new(cls, (a, b, c, d, e, f, g, h)),
        lambda cls, a, b, c, d, e, f, g, h, i: new(cls, (a, b, c, d, e, f, g, h, i)),
        lambda cls, a, b, c, d, e, f, g, h, i, j: new(cls, (a, b, c, d, e, f, g, h, i, j)),
        lambda cls, a, b, c, d, e, f, g, h, i, j, k: new(cls, (a, b, c, d, e, f, g, h, i, j, k)),
    )

    def _constructor(owner, fields, defaults):
        code = _CONSTRUCTORS[len(fields)].__code__.replace(
            co_varnames=("_cls", *fields), co_name="__new__", co_qualname=f"{owner}.__new__"
        )
        return FunctionType(code, globals(), "__new__", defaults)

    def _make(cls, iterable):
        """Make one of a sequence or an iterable."""
        made = new(cls, iterable)
        if len(made) != len(cls._fields):
            raise TypeError(f"Expected {len(cls._fields)} arguments, got {len(made)}")
        return made

    def _replace(self, /, **changes):
        """Return a copy with other values of these fields."""
        made = new(type(self), map(changes.pop, self._fields, self))
        if changes:
            raise ValueError(f"Got unexpected field names: {list(changes)!r}")
        return made

    def _asdict(self):
        """Return a dict from the names of the fields to their values."""
        return dict(zip(self._fields, self, strict=True))

    def _repr(self):
        values = ", ".join(
            f"{name}={value!r}" for name, value in zip(self._fields, self, strict=True)
        )
        return f"{type(self).__name__}({values})"

    _SHARED = {
        "__slots__": (),
        "_make": classmethod(_make),
        "_replace": _replace,
        "__replace__": _replace,
        "_asdict": _asdict,
        "__repr__": _repr,
        "__getnewargs__": lambda self: tuple(self),
    }

    class _Making(type):
        """Makes a tuple with names of a class statement; what it makes is of `type` itself."""

        def __new__(cls, name, bases, namespace):
            fields = (*namespace.get("__annotations__", ()),)
            defaults = {field: namespace.pop(field) for field in fields if field in namespace}
            getters = {
                field: _tuplegetter(index, f"Alias for field number {index}")
                for index, field in enumerate(fields)
            }
            own = {
                "_fields": fields,
                "__match_args__": fields,
                "_field_defaults": defaults,
                "__new__": _constructor(name, fields, (*defaults.values(),)),
            }
            return type(name, (tuple,), {**_SHARED, **getters, **own, **namespace})

    NamedTuple = type.__new__(_Making, "NamedTuple", (), {})

    # --- Dataclasses -----------------------------------------------------------------------------

    assign = object.__setattr__
    NOTHING = object()

    class field:
        """What a field is where none is given, and whether ``__init__`` and ``repr`` know it."""

        def __init__(self, *, default=NOTHING, default_factory=None, init=True, repr=True):
            self.default, self.make = default, default_factory
            self.init, self.repr = init, repr

    def replace(record, /, **changes):
        """Return a copy of a record with other values of some fields."""
        kept = {name: getattr(record, name) for name, own in record._record.items() if own.init}
        return type(record)(**{**kept, **changes})

    def dataclass(*, frozen=False, eq=True, order=False, repr=True, slots=False, kw_only=False):
        """Make a dataclass; the options are those of ``dataclasses.dataclass``."""

        def make(cls):
            fields = dict(getattr(cls, "_record", {}))
            own = {name: vars(cls).get(name, NOTHING) for name in cls.__annotations__}
            for name, given in own.items():
                fields[name] = given if isinstance(given, field) else field(default=given)
                fields[name].text = cls.__annotations__[name]
            names = (*fields,)
            methods = {"__init__": _initializer(fields, kw_only=kw_only)}
            if repr:
                methods["__repr__"] = _shown([name for name in names if fields[name].repr])
            if eq:
                words = ("eq", "lt", "le", "gt", "ge") if order else ("eq",)
                methods |= {f"__{word}__": _by(getattr(operator, word), names) for word in words}
                methods["__hash__"] = _hash_of(names) if frozen else None
            if frozen:
                methods |= {"__setattr__": _refuse, "__delattr__": _refuse}
            if slots:  # for pickle and copy, which may not assign either
                methods |= {"__getstate__": _state, "__setstate__": _restore}
            added = methods | {"_record": fields, "__replace__": replace}
            added["__match_args__"] = () if kw_only else names
            for name in ("__signature__", "__dataclass_fields__"):
                added[name] = _OfTwin(name, kw_only=kw_only)
            return (_with_slots if slots else _with)(cls, added, own)

        return make

    def _with(cls, added, fields):
        for name in added.keys() - vars(cls).keys():
            setattr(cls, name, added[name])
        for name, given in fields.items():
            if isinstance(given, field):
                delattr(cls, name)
        return cls

    def _with_slots(cls, added, fields):
        left = {*fields, "__dict__", "__weakref__"}
        own = {name: value for name, value in vars(cls).items() if name not in left}
        return type(cls)(cls.__name__, cls.__bases__, {**added, **own, "__slots__": (*fields,)})

    def _initializer(fields, *, kw_only):
        places = () if kw_only else tuple(name for name in fields if fields[name].init)
        steps = [(name, own.init, own.default, own.make) for name, own in fields.items()]

        def __init__(self, *args, **given):
            if args:
                given = _by_name(self, places, args, given)
            for name, asked, value, make in steps:
                if asked and name in given:
                    value = given.pop(name)
                elif make is not None:
                    value = make()
                elif value is NOTHING:
                    raise TypeError(f"{_called(self)} missing 1 required argument: {name!r}")
                assign(self, name, value)
            if given:
                unknown = next(iter(given))
                raise TypeError(f"{_called(self)} got an unexpected keyword argument {unknown!r}")

        return __init__

    def _by_name(self, places, args, given):
        if len(args) > len(places):
            taken, s = len(places) + 1, "s" if places else ""
            said = f"takes {taken} positional argument{s} but {len(args) + 1} were given"
            raise TypeError(f"{_called(self)} {said}")
        named = dict(zip(places, args, strict=False))
        for name in named.keys() & given.keys():
            raise TypeError(f"{_called(self)} got multiple values for argument {name!r}")
        return named | given

    def _called(self):
        return f"{type(self).__name__}.__init__()"

    def _values_of(names):
        get = operator.attrgetter(*names)
        return get if len(names) > 1 else lambda self: (get(self),)

    def _shown(names):
        @recursive_repr()
        def __repr__(self):
            values = (f"{name}={getattr(self, name)!r}" for name in names)
            return f"{type(self).__qualname__}({', '.join(values)})"

        return __repr__

    def _by(relation, names):
        values = _values_of(names)

        def compare(self, other):
            if type(other) is not type(self):
                return NotImplemented
            return relation(values(self), values(other))

        return compare

    def _hash_of(names):
        values = _values_of(names)
        return lambda self: hash(values(self))

    def _refuse(self, name, *value):
        from dataclasses import FrozenInstanceError

        verb = "assign to" if value else "delete"
        raise FrozenInstanceError(f"cannot {verb} field {name!r}")

    def _state(self):
        return [getattr(self, name) for name in self._record]

    def _restore(self, state):
        for name, value in zip(self._record, state, strict=True):
            assign(self, name, value)

    class _OfTwin:
        """An attribute of the dataclass that the standard library makes of the same fields.

        Nothing here needs it; ``dataclasses``, help and documentation do, and it is made for them.
        """

        def __init__(self, name, *, kw_only):
            self.name, self.kw_only = name, kw_only

        def __get__(self, record, cls):
            import dataclasses
            from inspect import signature

            def standard(own):
                default = {} if own.default is NOTHING else {"default": own.default}
                default |= {"default_factory": own.make} if own.make else {}
                return dataclasses.field(**default, init=own.init, repr=own.repr)

            annotations = {name: own.text for name, own in cls._record.items()}
            namespace = {name: standard(own) for name, own in cls._record.items()}
            twin = type(cls.__name__, (), {"__annotations__": annotations, **namespace})
            twin = dataclasses.dataclass(repr=False, eq=False, kw_only=self.kw_only)(twin)
            return signature(twin) if self.name == "__signature__" else getattr(twin, self.name)
