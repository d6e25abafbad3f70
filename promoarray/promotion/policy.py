"""Policy: a frozen record of one framework's rules, which makes plans.

An operation's dtypes are decided in four steps, each of them data of the policy:

1. **operand types**: what each operand counts as (a Python scalar, a 0-d array and a value may
   count for less than an array);
2. **promote**: the rule that folds those dtypes into their common one;
3. the **operation rule**: whether the operation admits it, what it computes in and what it returns;
4. the **plan**: what every operand becomes, what is computed in, what the result is.

A plan is decided once and cached. The backend obeys it and decides nothing, so CPU and GPU cannot
disagree about dtypes.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Any

from promoarray.dtypes import BY_CODE, WEAK, DType, as_dtype, weak_int
from promoarray.dtypes import bool as dt_bool
from promoarray.errors import UnknownPolicyError
from promoarray.operations import STANDS_FOR, Family, Form, operation
from promoarray.promotion.cast_rules import CAST, CastRule
from promoarray.promotion.plan import (
    KEEPS_BITS,
    Decision,
    Operand,
    Plan,
    Rank,
    Refusal,
    accumulator,
)
from promoarray.promotion.quantization import BORROWED, Quantization
from promoarray.promotion.rules import Lattice, PromotionRule, fold
from promoarray.promotion.scalars import WIDE, Fit, Scalars, held_by_floats
from promoarray.promotion.source import Source
from promoarray.promotion.stored import Stored, no_imaginary_dropped, real_and_fitting
from promoarray.promotion.type_rules import Arrays, own_types, recorded, refuse
from promoarray.promotion.type_steps import component

if TYPE_CHECKING:
    from typing import Self, TypeVar, TypeVarTuple

    from promoarray.promotion.answers import Answers, Support
    from promoarray.promotion.foreign import Foreign
    from promoarray.promotion.policy_like import ByValue, OperandTypes, OperationRule
    from promoarray.promotion.properties_report import PropertiesReport
    from promoarray.promotion.table_text import TableLike

    T = TypeVar("T")
    Key = TypeVarTuple("Key")


NO_OPTIONS: Mapping[str, Any] = {}

FEW = 64
"""Operands up to which a plan is kept; a list of arrays may have any number of them, another one in
each pass of a loop."""

BRANCHES = frozenset({"bool"})
"""``if x:`` alone takes an array of one element: so NumPy 2, JAX, TensorFlow, and ONNX's ``If``,
whose condition "must contain a single element"."""

CONVERSIONS = BRANCHES | {"int", "float", "complex", "index"}
"""Whatever asks for a Python number takes one: so PyTorch, Paddle and MindSpore."""


@dataclass(frozen=True, eq=False, kw_only=True)
class Policy:
    """One framework's rules.

    A frozen record that *has* rules; nothing inherits from it. ``derive`` makes a changed copy.

    Attributes
    ----------
    name : str
        ``family`` or ``family@edition``.
    title : str
        What it reproduces, in words.
    principle : str
        The promotion rule in a sentence or two.
    promote : PromotionRule
        Common dtype of two dtypes, weak ones included.
    dtypes : tuple of DType
        The dtypes the framework has, in the order its tables show them.
    operations : mapping
        From an operation's name, or its family, to its rule. A name goes before its family.
    functions : mapping
        As ``operations``, for *functions* that differ from the operator of their name. What is
        not here goes by ``operations``.
    signatures : mapping
        From a function's name, or its family, to which of its operands have to be arrays. Other
        operands are computed by ``operations`` all the same; ``explain`` tells.
    operand_types : OperandTypes
        What each operand counts as.
    by_value : callable or None
        Turns an operation's operands with values into operands without, for policies that look at
        values. Its ``borders``, if it has them, are doubles in their order, each the first value
        (or part of a complex one) that it may tell from those below, which lets numbers that were
        not met before take the fast path.
    squares : frozenset of DType
        Dtypes whose ``x ** 2``, the operator with Python's own 2, is a square, where any other
        exponent has a say in the dtype.
    ranks : bool
        Whether a 0-d array may count for less than an array.
    ranked : frozenset of str
        Operations whose rule tells 0-d arrays from others, though promotion does not.
    scalars : Scalars
    kernels : mapping
        From an operation to the kernels it has instead of the usual one, for the kinds of dtypes
        where the framework's values differ (``promoarray.promotion.variants``).
    defaults : mapping
        What the weak types become when nothing strong is near.
    counts : DType or None
        What ``count_nonzero`` and ``nonzero`` count in; None for the default integer.
    weak_arrays : bool
        Whether arrays can stay weakly typed (JAX).
    weak_subclasses : bool
        Whether a number of a class derived from Python's, such as an ``IntEnum`` member, counts for
        no more than Python's own; NumPy 2 makes an array of it.
    canonical : mapping
        What new arrays are instead of dtypes the policy never holds (JAX without x64).
    inplace : callable or None
        From (result, target) to whether ``target op= x`` may write a result of that dtype into the
        target. None: the name is bound to a new array, so its dtype may change.
    stored : Stored
        What becomes of Python numbers that are stored: by ``full``, ``asarray``, ``x[key] = 1``.
    assigns : callable
        From (source, target) to why ``target[key] = array`` may not cast to the target's dtype, or
        None where it may.
    foreign : Foreign or None
        What NumPy's scalars and arrays enter an operation as; None where they are arrays of their
        dtypes.
    meets : PromotionRule or None
        The dtype that ``target`` and what is assigned to a part of it promote to; all of ``target``
        is cast to it and back. None where the value alone is cast.
    refuses : mapping
        Of functions that promote nothing, such as ``meshgrid`` and ``take``, by name: from the
        dtypes of their arrays to why the framework takes no such arrays, or None where it does.
        ``getitem`` is asked of an array and each of its index arrays, ``setitem`` of an array and
        the values put at index arrays, or more than one where a mask is true, ``clip`` of an array
        that no bound clips. ``divide=`` is asked of the operands of ``x /= y``.
    masks : frozenset of DType
        Dtypes of which an index array is a mask, true where an element is not 0.
    copies : frozenset of str
        What has memory of its own though it could share that of its array: ``item``, the 0-d array
        that integers pick (``x[0]``), and ``flip``.
    one_element : frozenset of str
        What takes an array of one element whatever its axes, where the others take 0-d arrays
        alone: ``bool``, ``int``, ``float``, ``complex`` and ``index``, as Python asks for them, and
        ``setitem``, of what is written at one element, ``x[0] = y``, of bools ``setitem bool``.
    composed : frozenset of str
        Functions that the framework makes of its others, whose dtypes they have: ``einsum``, where
        it sums as ``sum`` does and multiplies as ``multiply``; ``quantile``, where its shares
        promote with the array.
    fixed : mapping
        From a function that is made of others here to the dtype that its results have in the
        framework whatever its arrays are: ``histogram`` counts, ``interp`` computes in it;
        ``weights`` of ``bincount`` that are neither float32 nor float64 become it.
    real_spectra : bool
        Whether the framework's own eigenvalues of a matrix are real where all of them happen to be
        (NumPy): ``decide`` is told with the option ``real``.
    answers : Answers or None
        What the framework itself answered for its functions, of those that follow no promotion, and
        the dtypes it has no kernel for.
    default_set : callable or None
        From the policy and the float dtype that a program has made the default one to the policy
        from there on (``torch.set_default_dtype``). None where there is no such setting.
    long : DType or None
        What ``int`` means as a dtype where that is another one than int64: a C long.
    fills_powers : bool
        Whether powers to a Python number 0 or 1, and of one that is 1, need no kernel.
    needs_kernels : bool
        Whether operations that the framework has no kernel for are refused, as they are there
        (``with_kernels``); else they are computed all the same.
    keeps : frozenset of str
        Operations whose function in place (``clip_``) leaves the target its dtype, where
        ``inplace`` is None.
    cast : CastRule
        What casts do with values the target cannot hold, and the quirks there are.
    quantization : Quantization
        How floats become scaled integers and narrow floats, and back.
    can_cast : callable
        From (source, target) to whether the framework calls the cast allowed.
    refusal : str
        The reason given where ``promote`` has no answer, with its source.
    sources : tuple of Source
    notes : tuple of str
        What a reader should know: editions, contradictions settled, departures.

    Examples
    --------
    >>> from promoarray.policies import as_policy
    >>> torch = as_policy("torch")
    >>> torch.name, torch.title
    ('torch@2.13', 'PyTorch 2.13')
    >>> torch.promote(int64, float16)
    promoarray.float16
    """

    name: str
    title: str
    promote: PromotionRule
    dtypes: tuple[DType, ...]
    operations: Mapping[str | Family, OperationRule]
    principle: str = ""
    functions: Mapping[str | Family, OperationRule] = field(default_factory=dict)
    signatures: Mapping[str | Family, Arrays] = field(default_factory=dict)
    operand_types: OperandTypes = own_types
    by_value: ByValue | None = None
    squares: frozenset[DType] = frozenset()
    ranks: bool = False
    ranked: frozenset[str] = frozenset()
    scalars: Scalars = field(default_factory=Scalars)
    kernels: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    defaults: Mapping[DType, DType] = field(default_factory=lambda: WIDE)
    counts: DType | None = None
    weak_arrays: bool = False
    weak_subclasses: bool = True
    canonical: Mapping[DType, DType] = field(default_factory=dict)
    inplace: Callable[[DType, DType], bool] | None = None
    stored: Stored = field(default_factory=Stored)
    assigns: Callable[[DType, DType], str | None] = no_imaginary_dropped
    foreign: Foreign | None = None
    meets: PromotionRule | None = None
    refuses: Mapping[str, Callable[[tuple[DType, ...]], str | None]] = field(default_factory=dict)
    masks: frozenset[DType] = frozenset({dt_bool})
    copies: frozenset[str] = frozenset({"item"})
    one_element: frozenset[str] = BRANCHES
    composed: frozenset[str] = frozenset()
    fixed: Mapping[str, DType] = field(default_factory=dict)
    real_spectra: bool = False
    answers: Answers | None = None
    default_set: Callable[[Policy, DType], Policy] | None = None
    long: DType | None = None
    fills_powers: bool = False
    needs_kernels: bool = False
    keeps: frozenset[str] = frozenset()
    cast: CastRule = CAST
    quantization: Quantization = BORROWED
    can_cast: Callable[[DType, DType], bool] = lambda source, target: True
    refusal: str = "the dtypes have no common dtype"
    sources: tuple[Source, ...] = ()
    notes: tuple[str, ...] = ()
    # What this very policy has decided; a changed copy begins with none of it.
    plans: dict[Any, Plan | Refusal] = field(default_factory=dict, init=False, repr=False)
    executables: dict[Any, Any] = field(default_factory=dict, init=False, repr=False)
    # What is made of it once, and dies with it: its namespace, its class of arrays.
    made: dict[Any, Any] = field(default_factory=dict, init=False, repr=False)

    def once(self, make: Callable[[Self, *Key], T], *key: *Key) -> T:
        """Return what ``make(policy, *key)`` gives: one object, though threads ask at once."""
        kept = make, key
        found: T | None = self.made.get(kept)
        return self.made.setdefault(kept, make(self, *key)) if found is None else found

    def plan(
        self, name: str, operands: tuple[Operand, ...], form: Form = Form.OPERATOR
    ) -> Plan | Refusal:
        """Decide what an operation does with its operands.

        Parameters
        ----------
        name : str
            A name of ``promoarray.operations``.
        operands : tuple of Operand
            Those that take part in promotion (``where`` without its condition).
        form : Form
            Whether it is written as an operator, in place, or as a function.
        """
        if form is Form.INPLACE:
            return self.plan_inplace(name, operands)
        if self.by_value is not None and any(o.value is not None for o in operands):
            operands = self.by_value(self, name, operands, form)
        key = name + form, operands
        found = self.plans.get(key)
        if found is None:
            found = self.rule(name, operands, form)(self, name, operands)
            if self.needs_kernels and isinstance(found, Plan):
                found = self.kernel_refusal(name, operands, found, form) or found
            if len(operands) <= FEW:
                found = self.plans.setdefault(key, found)
        return found

    def plan_inplace(self, name: str, operands: tuple[Operand, ...]) -> Plan | Refusal:
        """Decide what ``target op= x`` does; the result's dtype is the target's afterwards."""
        plan, target = self.plan(name, operands), operands[0].type
        refuses = self.refuses.get(f"{name}=")
        if refuses and (said := refuses(tuple([operand.type for operand in operands]))):
            return Refusal(said)
        if isinstance(plan, Refusal) or (self.inplace is None and name not in self.keeps):
            return plan
        if self.needs_kernels and (why := self.kernel_refusal(name, operands, plan, Form.INPLACE)):
            return why
        if self.inplace is None:
            return plan._replace(result=target)
        if not self.inplace(plan.result, target):
            result = self.strong(plan.result).name
            return Refusal(f"the result is {result}, which may not be written into {target.name}")
        return plan._replace(result=target)

    def may_square(self, name: str, operands: tuple[Operand, ...], form: Form) -> bool:
        """Whether the dtype hangs on the exponent: a square is not as other powers are."""
        if name != "pow" or form is Form.FUNCTION or not self.squares:
            return False
        x, y = operands
        return x.rank is not Rank.SCALAR and x.type in self.squares and y.type is weak_int

    def squared(
        self, name: str, operands: tuple[Operand, ...], values: tuple[Any, ...], form: Form
    ) -> tuple[Operand, ...]:
        """Return what is promoted in place of operands: of a square x twice, else themselves."""
        if not self.may_square(name, operands, form):
            return operands
        two = type(values[1]) is int and values[1] == 2
        return (operands[0], operands[0]) if two else operands

    def decide(
        self,
        name: str,
        operands: tuple[Operand, ...],
        values: tuple[Any, ...],
        form: Form = Form.OPERATOR,
        *,
        options: Mapping[str, Any] = NO_OPTIONS,
    ) -> Decision | Refusal:
        """Decide what an operation does with these very values: the plan, and what scalars become.

        Parameters
        ----------
        name : str
        operands : tuple of Operand
        values : tuple
            The same operands themselves; only Python scalars among them are looked at.
        form : Form
            In place, the result is written into the first.
        options : mapping
            What the operation takes besides: ``low`` tells which bounds ``clip`` has, ``real`` that
            the eigenvalues that ``eig`` finds are real, ``default`` the code of the float dtype
            that the program has made the default one.
        """
        if self.default_set is not None and "default" in options:
            others = {name: x for name, x in options.items() if name != "default"}
            then = self.once(self.default_set, BY_CODE[options["default"]])
            return then.decide(name, operands, values, form, options=others)
        promoted = self.squared(name, operands, values, form) if self.squares else operands
        plan = self.plan(name, promoted, form)
        if isinstance(plan, Refusal) and plan.kernel and self.fills_powers and name == "pow":
            other: Plan | Refusal = self.made.get("base", self).plan(name, promoted, form)
            if isinstance(other, Plan):
                plan = self.kernel_refusal(name, promoted, other, form, values=values) or other
        if isinstance(plan, Refusal):
            return plan
        if self.real_spectra and options.get("real"):
            plan = plan._replace(
                result=component(plan.result), extra_results=(*map(component, plan.extra_results),)
            )
        for x in values:
            if type(x) in WEAK:
                break
        else:  # in half the time of a set, and asked of every policy that is compared
            return Decision(plan, tuple(values))
        first, low = operands[0].type, options.get("low", True)
        alone = all(type(x) in WEAK for x in values)
        fitted = [*values]
        try:
            for index, (x, dtype) in enumerate(zip(values, plan.inputs, strict=True)):
                if type(x) in WEAK:
                    fit = self.scalars.rule(name, index, dtype, first=first, low=low, alone=alone)
                    fitted[index] = held_by_floats(fit(x, dtype), dtype)
        except (OverflowError, ValueError) as error:
            return Refusal(str(error), error)
        return Decision(plan, (*fitted,))

    def carried_out(
        self,
        name: str,
        operands: tuple[Operand, ...],
        values: tuple[Any, ...],
        form: Form = Form.OPERATOR,
        *,
        options: Mapping[str, Any] = NO_OPTIONS,
    ) -> Decision | Refusal:
        """Decide as the framework itself does, which carries out nothing that it has no kernel for;
        else as ``decide``, by which promoarray computes."""
        decided = self.decide(name, operands, values, form, options=options)
        if isinstance(decided, Refusal):
            return decided
        return self.kernel_refusal(name, operands, decided.plan, form, values=values) or decided

    def kernel_refusal(
        self,
        name: str,
        operands: tuple[Operand, ...],
        plan: Plan,
        form: Form = Form.OPERATOR,
        *,
        values: tuple[Any, ...] = (),
        anywhere: bool = True,
    ) -> Refusal | None:
        """Return why the framework does not carry out a plan: it lacks the kernel.

        Such an operation is computed all the same, but for a policy ``with_kernels``. The kernel is
        that of the operands' dtype, of several dtypes that of their common one, to which others are
        cast; a function in place may have fewer. Not ``anywhere``: what a GPU may have is lacking.
        ``values`` as of ``decide``, where they are known.
        """
        if self.answers is None or not operands:
            return None
        lacking = partial(self.answers.without_kernel, self.title, anywhere=anywhere)
        if self.fills_powers and name == "pow" and values:
            from promoarray.promotion.answers import kernels_of_filling

            own = next((self.strong(o.type) for o in operands if o.rank is not Rank.SCALAR), None)
            found = kernels_of_filling(values, own, plan.inputs[0], form)
            if found is not None:
                return next(filter(None, (lacking(*each) for each in found)), None)
        dtypes = self._of_kernel(name, operands, plan)
        asked = [(f"{name}_", self.strong(operands[0].type))] if form is Form.INPLACE else []
        names = self.answers.kernels(name, operands, form)
        asked += [(each, dtype) for each in names for dtype in dtypes]
        begun = zip(self.answers.begins.get(name, ()), operands, strict=False)
        asked += [(each, self.strong(o.type)) for each, o in begun if o.rank is not Rank.SCALAR]
        if len({operand.type for operand in operands}) > 1 and not self.answers.by_operand(name):
            arrays = (self.strong(o.type) for o in operands if o.rank is not Rank.SCALAR)
            asked += [("astype", dtype) for dtype in (*dtypes, *arrays)]
        return next(filter(None, (lacking(*each) for each in asked)), None)

    def support(self, name: str, operands: tuple[Operand, ...], plan: Plan) -> Support | None:
        """Return what lists of dtypes say of the kernel that carries out a plan, of several dtypes
        the least; None where no such list is at hand."""
        if self.answers is None or not operands:
            return None
        support, dtypes = self.answers.support, self._of_kernel(name, operands, plan)
        found = (support(name, dtype) for dtype in dtypes)
        return min(filter(None, found), key=lambda each: each.grade, default=None)

    def _of_kernel(self, name: str, operands: tuple[Operand, ...], plan: Plan) -> tuple[DType, ...]:
        """The dtypes that a kernel is asked for: that of the operands, of several dtypes their
        common one; or each array's own, where the kernel casts them."""
        if self.answers is not None and self.answers.by_operand(name):
            arrays = [operand for operand in operands if operand.rank is Rank.ARRAY]
            return (*{self.strong(operand.type): None for operand in arrays or operands},)
        alike = len({operand.type for operand in operands}) == 1
        return (self.strong(operands[0].type) if alike else plan.inputs[0],)

    @property
    def count_dtype(self) -> DType:
        """The dtype of what ``count_nonzero`` and ``nonzero`` count."""
        counts = self.counts or self.strong(weak_int)
        return self.canonical.get(counts, counts)

    @property
    def framework(self) -> str:
        """The framework, whatever edition it is of and whatever it runs on."""
        return self.name.partition("@")[0].removesuffix("_npu")

    @property
    def assigning(self) -> Fit:
        """From a Python number and the dtype of ``x`` to what ``x[key] = value`` casts to it.

        It raises TypeError, ValueError or OverflowError if the policy does not store the number
        there, and does not keep the policy itself alive.
        """
        own = self.stored.fit_by.get("setitem")
        return real_and_fitting(self.scalars.fit) if own is None else own

    def result_type(self, operands: tuple[Operand, ...]) -> DType | Refusal:
        """Decide the common dtype of operands, whatever the operation."""
        if self.by_value is not None and any(o.value is not None for o in operands):
            # concat does nothing but promote
            operands = self.by_value(self, "concat", operands, Form.FUNCTION)
        types = self.operand_types(self, operands)
        if isinstance(types, Refusal):
            return types
        common = fold(self.promote, types)
        return Refusal(self.refusal) if common is None else self.strong(common)

    def rule(
        self, name: str, operands: tuple[Operand, ...] = (), form: Form = Form.OPERATOR
    ) -> OperationRule:
        """Return the rule of an operation; a function's own as far as it takes the operands."""
        own = _of(name, self.functions) if form is Form.FUNCTION else None
        if own is not None and self.signature_refusal(name, operands) is None:
            return own
        if name in STANDS_FOR and name not in self.operations:
            return recorded
        return _of(name, self.operations) or refuse(f"{self.name} has no {name}")

    def signature_refusal(self, name: str, operands: tuple[Operand, ...]) -> Refusal | None:
        """Return why the framework's function takes no such operands, whatever their dtypes.

        Such a function is computed all the same, by the operator's rule.
        """
        wanted = _of(name, self.signatures) if operands else None
        if wanted is not None or self.answers is None:
            return wanted and wanted.refusal(self.title, name, operands)
        if not self.answers.refuses_number(name, operands):
            return None

        return Arrays.ALL.refusal(self.title, name, operands)

    def kernel(self, name: str, plan: Plan) -> str:
        """The kernel of an operation: its own name, or a variant for what is computed in."""
        if plan.kernel:
            return plan.kernel
        if name not in self.kernels:
            return name
        from promoarray.promotion.variants import VARIANTS

        computed = plan.compute or plan.inputs[0]
        return next((v for v in self.kernels[name] if computed.kind in VARIANTS[v].kinds), name)

    def make_plan(
        self, name: str, computed: DType, result: DType, count: int, *extra_results: DType
    ) -> Plan:
        """Make a plan of dtypes: weak ones get their storage, narrow ones one to compute in.

        Parameters
        ----------
        name : str
            Of the operation.
        computed, result : DType
            What the operands are cast to, and what the operation returns; either may be weak.
        count : int
            How many operands there are.
        *extra_results : DType
            The further results of an operation that has several.
        """
        defaults = self.defaults
        strong = defaults.get(computed, computed)
        kernel = strong if name in KEEPS_BITS else accumulator(strong)
        if not self.weak_arrays:
            result = defaults.get(result, result)
            extra_results = tuple(map(self.strong, extra_results)) if extra_results else ()
        return Plan((strong,) * count, kernel, result, extra_results)

    def named(self, dtype: object) -> DType:
        """Return the dtype that an argument names: ``as_dtype``, but for ``int`` as a C long."""
        found = as_dtype(dtype)
        if self.long is None or isinstance(dtype, DType) or not isinstance(dtype, (type, str)):
            return found
        bits = self.long.bits if dtype in _LONGS else found.bits
        return found if bits == found.bits else BY_CODE[f"{found.code[0]}{bits}"]

    def keeps_named(self, dtype: str) -> bool:
        """Whether the fast path may know a dtype by its name: ``int`` is int64 to it."""
        return self.long is None or dtype not in ("int64", "uint64")

    def strong(self, dtype: DType) -> DType:
        """What a dtype is in memory: weak ones take the policy's default."""
        return self.defaults.get(dtype, dtype)

    @classmethod
    def from_table(cls, name: str, table: TableLike, **options: Any) -> Policy:
        """Make a policy of a promotion table.

        Parameters
        ----------
        name : str
        table : str, path, mapping or Table
            A square of dtype codes apart by blanks, commas or bars, ``-`` where there is no common
            dtype; a CSV file; or ``{(a, b): dtype}``, which holds in both orders. Rows or columns
            of the weak types ``b* i* f* c*`` say what Python scalars do.
        title : str, optional
        scalars : {"weak", "strong", "refuse"}
            What a Python scalar counts as where the table does not say: its kind only, its default
            dtype, or nothing.
        overflow : {"raise", "wrap"} or callable
            What becomes of a Python int that does not fit: OverflowError, its low bits, or what
            ``(value, dtype)`` is made into.
        defaults : mapping, optional
            What ``bool``, ``int``, ``float``, ``complex`` become where nothing else decides, and
            with them the results of ``mean`` or ``1 / 2``. Else int64, float64 and complex128, or
            the widest of the table.
        inplace : {"same_kind", "any", "rebind"} or callable
            Whether ``x += y`` may write a float into integers, or makes a new array.
        ranks : bool
            Whether a 0-d array counts for less than an array, as in PyTorch.
        operations : mapping, optional
            Rules of single operations or families, in place of the general ones
            (``promoarray.promotion.default_rules``).
        **options
            Any other field of a policy: ``sources``, ``notes``, ``refusal``, ``can_cast`` ...

        Returns
        -------
        Policy
            Ready to compute with; ``promoarray.policies.register`` makes it known by name.

        Raises
        ------
        ValueError
            If the table cannot be read, or an option has no such choice.

        Examples
        --------
        >>> table = '''
        ...      i8   i16  f32
        ... i8   i8   i16  f32
        ... i16  i16  i16  f32
        ... f32  f32  f32  f32
        ... '''
        >>> with policy(Policy.from_table("mine", table, scalars="weak")):
        ...     asarray([1, 2], dtype="int8") + 0.5
        PArray([1.5, 2.5], dtype=float32)
        """
        from promoarray.promotion.from_table import fields_of
        from promoarray.promotion.table_text import read_table

        return cls(**fields_of(name, read_table(table), **options))

    @classmethod
    def from_lattice(cls, name: str, edges: str | Lattice, **options: Any) -> Policy:
        """Make a policy of a lattice: lines ``a -> b c``, what lies right above each dtype.

        Parameters
        ----------
        name : str
        edges : str or Lattice
        **options
            As for ``from_table``.

        Raises
        ------
        ValueError
            If a line cannot be read, or the edges run in a circle.

        Examples
        --------
        >>> edges = '''
        ... i8 -> i16
        ... i16 -> f32
        ... '''
        >>> mine = Policy.from_lattice("mine", edges)
        >>> mine.promote(int8, float32)
        promoarray.float32
        """
        from promoarray.promotion.from_table import fields_of, read_lattice

        return cls(**fields_of(name, read_lattice(edges), **options))

    def derive(
        self,
        name: str,
        cells: Mapping[tuple[object, object], object] | None = None,
        /,
        *,
        symmetric: bool = True,
        **changes: Any,
    ) -> Policy:
        """Return a copy under a new name with some cells or fields changed.

        Parameters
        ----------
        name : str
        cells : mapping, optional
            ``{("int64", "bfloat16"): "float32"}``: the pairs that promote otherwise, None for those
            that shall not. Every operation of two such operands goes on as with two of that dtype.
        symmetric : bool
            Whether a pair given in one order holds in the other too.
        **changes
            Fields of the policy.

        Raises
        ------
        ValueError
            If a dtype is unknown.

        Examples
        --------
        >>> mine = get_policy().derive("mine", {("int64", "float32"): "float32"})
        >>> with policy(mine):
        ...     asarray([1, 2]) + asarray([0.5, 0.5], dtype=float32)
        PArray([1.5, 2.5], dtype=float32)
        """
        changed = replace(self, name=name, **changes)
        if cells is None:
            return changed
        from promoarray.promotion.overrides import changed_fields

        return replace(changed, **changed_fields(changed, cells, symmetric=symmetric))

    def with_kernels(self) -> Policy:
        """Return the policy that refuses what its framework has no kernel for.

        What a framework promotes it need not compute: PyTorch's CPU adds no uint16. By default such
        operations are computed here all the same. What the wheel for the CPU alone lacks, as most
        kernels of float16 and bfloat16, is no refusal.

        Returns
        -------
        Policy
            Named ``policy+kernels``, as ``set_policy`` takes it, too.

        Raises
        ------
        UnknownPolicyError
            A ValueError, if its framework was not asked for its kernels.

        Examples
        --------
        >>> from promoarray.policies import as_policy
        >>> strict = as_policy("torch").with_kernels()
        >>> strict.name
        'torch@2.13+kernels'
        >>> strict.plan("abs", (Operand(bool),)).why
        'PyTorch 2.13 has no kernel for bool in abs on the CPU (torch 2.13.0+cpu)'
        """
        return self.with_quirks(KERNELS)

    def with_quirks(self, *names: str) -> Policy:
        """Return the policy with some bugs of its framework, which are off by default.

        Parameters
        ----------
        *names : str
            Of ``policy.cast.quirks``; ``promoarray list`` shows them. The name ``kernels`` does
            what ``with_kernels`` does.

        Returns
        -------
        Policy
            Named ``policy+quirk``, as ``set_policy`` takes it, too.

        Raises
        ------
        UnknownPolicyError
            A ValueError, if there is no such quirk; it lists the near names.

        Examples
        --------
        >>> from promoarray.policies import as_policy
        >>> paddle = as_policy("paddle@3.3").with_quirks("nan-to-e4m3fn-is-448")
        >>> x = asarray([nan], dtype=float32)
        >>> with policy(paddle):
        ...     x.astype(float8_e4m3fn)
        PArray([448.], dtype=float8_e4m3fn)
        """
        base: Policy = self.made.get("base", self)  # quirks in any order give one and the same
        quirks = [name for name in names if name != KERNELS]
        try:
            cast = base.cast.with_quirks(*self.cast.on, *quirks)
        except UnknownPolicyError as error:
            raise UnknownPolicyError(f"policy {self.name!r}: {error}") from None
        kernels = self.needs_kernels or KERNELS in names
        if kernels and self.answers is None:
            raise UnknownPolicyError(
                f"policy {self.name!r}: its framework was not asked which kernels it has; torch, "
                "paddle@3.3, tensorflow, jax and numpy were"
            )
        return base.once(_quirky, cast.on, kernels)

    def check(self, *names: str, operations: bool = True) -> PropertiesReport:
        """Prove or refute what one may hope of the promote rule, with counter-examples.

        Parameters
        ----------
        *names : str
            Of "total", "commutative", "associative", "idempotent", "monotone", "no loss of kind",
            "partial lattice", "lattice"; all of them if none is given.
        operations : bool
            Whether to go through the rules of the binary operations too.

        Returns
        -------
        PropertiesReport
            True if every property holds. Every case is tried, so a pass is a proof.

        Raises
        ------
        ValueError
            If a property has no such name.

        Examples
        --------
        >>> report = get_policy().check("commutative", "associative", operations=False)
        >>> {found.name: found.holds for found in report.findings}
        {'commutative': True, 'associative': False}
        """
        from promoarray.promotion.properties import check

        return check(self, *names, operations=operations)

    def __repr__(self) -> str:
        return f"<Policy {self.name}: {self.title}>"

    def _repr_html_(self) -> str:
        from promoarray import pages

        rows = (
            ("rule", self.principle),
            ("dtypes", ", ".join(dtype.name for dtype in self.dtypes)),
            *(("source", str(source)) for source in self.sources),
            *(("note", str(note)) for note in self.notes),
            *(("cast source", str(source)) for source in self.cast.sources),
            *(("cast note", str(note)) for note in self.cast.notes),
        )
        said = [(heading, text) for heading, text in rows if text]
        return pages.fragment(f"{self.name}: {self.title}", pages.table(("", ""), said))

    # A record that never changes is its own copy; pickling is the registry's business.

    def __copy__(self) -> Self:
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        return self


def _of(name: str, rows: Mapping[str | Family, T]) -> T | None:
    """What a mapping has for an operation, or else for its family."""
    return rows[name] if name in rows else rows.get(operation(name).family)


_LONGS = frozenset({int, "int", "int_", "long", "uint", "ulong"})

KERNELS = "kernels"
"""Stands behind a policy's name, as quirks do, where what has no kernel is refused."""


def _quirky(base: Policy, on: tuple[str, ...], kernels: bool) -> Policy:
    """The policy with exactly these of its framework's quirks, and the lack of kernels or not."""
    if on == base.cast.on and kernels is base.needs_kernels:
        return base
    quirks = (quirk for quirk in on if quirk not in base.cast.on)
    name = "+".join((base.name, *quirks, *([KERNELS] * kernels)))
    made = base.derive(name, cast=base.cast.with_quirks(*on), needs_kernels=kernels)
    made.made["base"] = base
    return made
