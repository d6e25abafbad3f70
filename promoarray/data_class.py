"""Frozen ``dataclass`` as the standard library has it, made without compiling.

``dataclasses.dataclass`` writes source text for every method and compiles it, a millisecond a
class, which took a sixth of ``import promoarray``. Here the constructor is one that exists, under
the names of the fields, and every other method is a function that all classes share. Type checkers
see the standard library's; whoever asks a class for its fields (``dataclasses.fields``,
``replace``, ``is_dataclass``) is answered by a dataclass of theirs, made then.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from promoarray.named_tuple import NamedTuple

__all__ = ["dataclass", "field", "replace"]

if TYPE_CHECKING:
    from dataclasses import dataclass, field, replace
else:
    from operator import attrgetter, ge, gt, le, lt
    from types import FunctionType

    keep = object.__setattr__

    class _Made(NamedTuple):
        """What ``field`` puts in the place of a default."""

        default_factory: object
        init: bool
        repr: bool

        def __repr__(self):
            return "<factory>"  # signatures show it in the place of the default

    def field(*, default_factory, init=True, repr=True):
        """Have a default made anew for each object; without ``init`` nothing else is taken."""
        return _Made(default_factory, init, repr)

    class _Record(NamedTuple):
        """What the shared methods know of a class."""

        types: dict
        """From the name of each field to its annotation."""
        defaults: dict
        asked: tuple
        """The fields that the constructor takes."""
        unasked: tuple
        """The name of each other field and what makes it."""
        shown: tuple
        values: object
        """From a record to the values of all fields."""
        options: dict
        """What the class was made with."""

    def _constructor(owner, record, kw_only, init):
        """The constructor: ``init`` under the names of the record."""
        asked = record.asked
        code = init.__code__.replace(
            co_varnames=("self", *asked),
            co_nlocals=1 + len(asked),
            co_argcount=1 if kw_only else 1 + len(asked),
            co_kwonlyargcount=len(asked) if kw_only else 0,
            co_name="__init__",
            co_qualname=f"{owner}.__init__",
        )
        made = FunctionType(code, globals(), "__init__")
        defaults = {name: record.defaults[name] for name in asked if name in record.defaults}
        if kw_only:
            made.__kwdefaults__ = defaults
        else:
            made.__defaults__ = (*defaults.values(),)
        made.__annotations__ = {name: record.types[name] for name in asked} | {"return": None}
        return made

    def _init():
        _keep(locals())

    def _init_as_given():
        given = locals()
        given.pop("self").__dict__.update(given)  # in one step, where nothing is made anew

    def _keep(given):
        self = given.pop("self")
        for name, value in given.items():
            keep(self, name, value.default_factory() if type(value) is _Made else value)
        for name, make in self._record.unasked:
            keep(self, name, make())

    def replace(self, /, **changes):
        """Return a copy with other values of these fields."""
        for name, _ in self._record.unasked:
            if name in changes:
                raise ValueError(
                    f"field {name} is declared with init=False, it cannot be specified with "
                    "replace()"
                )
        return type(self)(**{name: getattr(self, name) for name in self._record.asked} | changes)

    def _repr(self):
        shown = ", ".join(f"{name}={getattr(self, name)!r}" for name in self._record.shown)
        return f"{type(self).__qualname__}({shown})"

    def _eq(self, other):
        if type(other) is not type(self):
            return NotImplemented
        values = self._record.values
        return values(self) == values(other)

    def _hash(self):
        return hash(self._record.values(self))

    def _ordered(compare):
        def method(self, other):
            if type(other) is not type(self):
                return NotImplemented
            values = self._record.values
            return compare(values(self), values(other))

        return method

    def _refuses(self, name):
        # A subclass that is no dataclass itself may have attributes besides.
        return "_record" in vars(type(self)) or name in self._record.types

    def _setattr(self, name, value):
        if _refuses(self, name):
            from dataclasses import FrozenInstanceError

            raise FrozenInstanceError(f"cannot assign to field {name!r}")
        keep(self, name, value)

    def _delattr(self, name):
        if _refuses(self, name):
            from dataclasses import FrozenInstanceError

            raise FrozenInstanceError(f"cannot delete field {name!r}")
        object.__delattr__(self, name)

    def _getstate(self):
        return [getattr(self, name) for name in self._record.types]

    def _setstate(self, state):
        for name, value in zip(self._record.types, state, strict=True):
            keep(self, name, value)

    class _Standard:
        """What the standard library knows its dataclasses by, which they have once it is asked."""

        def __init__(self, name):
            self._name = name

        def __get__(self, instance, owner):
            from dataclasses import dataclass, field

            record = owner._record
            namespace = {
                name: field(**value._asdict()) if type(value) is _Made else value
                for name, value in record.defaults.items()
            }
            namespace |= {"__annotations__": record.types, "__module__": owner.__module__}
            standard = dataclass(frozen=True, **record.options)
            return getattr(standard(type(owner.__name__, (), namespace)), self._name)

    _SHARED = {
        "__setattr__": _setattr,
        "__delattr__": _delattr,
        "__replace__": replace,
        **{name: _Standard(name) for name in ("__dataclass_fields__", "__dataclass_params__")},
    }
    _EQUAL = {"__eq__": _eq, "__hash__": _hash}
    _ORDERED = {f"__{each.__name__}__": _ordered(each) for each in (lt, le, gt, ge)}
    _PICKLED = {"__getstate__": _getstate, "__setstate__": _setstate}

    def dataclass(*, frozen, eq=True, order=False, repr=True, slots=False, kw_only=False):
        """Make a class statement a class of frozen records, which inherits from none.

        The arguments are those of ``dataclasses.dataclass``.
        """
        assert frozen
        options = {"eq": eq, "order": order, "repr": repr, "kw_only": kw_only}

        def decorate(cls):
            assert cls.__bases__ == (object,)
            namespace = dict(vars(cls))
            types = namespace["__annotations__"]
            defaults = {name: namespace.pop(name) for name in types if name in namespace}
            made = {name: each for name, each in defaults.items() if type(each) is _Made}
            unasked = {name: each.default_factory for name, each in made.items() if not each.init}
            record = _Record(
                types=types,
                defaults=defaults,
                asked=(*(name for name in types if name not in unasked),),
                unasked=(*unasked.items(),),
                shown=(*(name for name in types if name not in made or made[name].repr),),
                values=attrgetter(*types),
                options=options,
            )
            init = _init if made or slots else _init_as_given
            own = {
                "_record": record,
                "__match_args__": () if kw_only else record.asked,
                "__init__": _constructor(cls.__qualname__, record, kw_only, init),
                **_SHARED,
                **(_EQUAL if eq else {}),
                **(_ORDERED if order else {}),
                **({"__repr__": _repr} if repr else {}),
            }
            if not slots:
                for name in made:
                    delattr(cls, name)
                for name in own.keys() - namespace.keys():  # what the class has itself holds
                    setattr(cls, name, own[name])
                return cls
            for name in ("__dict__", "__weakref__"):
                del namespace[name]
            namespace |= {"__slots__": (*types,), "__qualname__": cls.__qualname__}
            return type(cls.__name__, (), own | _PICKLED | namespace)

        return decorate
