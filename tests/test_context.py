"""Context managers of users: blocks that nest, end out of turn, and run a step at a time."""

from __future__ import annotations

import asyncio
import contextvars
import inspect
import sys
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from typing import Any

import numpy as np
import pytest

import promoarray as pa

TORCH, JAX, PADDLE = "torch@2.13", "jax@x64", "paddle"
BLOCKS: dict[str, Callable[[], Any]] = {"trace": pa.trace, "shadow": lambda: pa.shadow("torch")}


def here() -> str:
    return pa.get_policy().name


@pytest.fixture(autouse=True)
def _ends_where_it_began() -> Iterator[None]:
    before = here()
    yield
    assert here() == before
    float(pa.ones(1)[0])  # no guard is left


# -- blocks -----------------------------------------------------------------------------------


@pytest.mark.parametrize("block", [pa.policy("torch"), pa.no_escape(), pa.no_compute()])
def test_an_interrupt_while_a_block_is_entered_or_left_leaves_nothing_set(block: Any) -> None:
    def run(instruction: int) -> tuple[int, object]:
        """Raise at an instruction of promoarray's own; count those there are."""
        met = 0

        def step(frame: Any, event: str, arg: object) -> Any:
            nonlocal met
            frame.f_trace_opcodes = frame.f_code is not body.__code__
            if event == "opcode":
                met += 1
                if met == instruction:
                    raise KeyboardInterrupt
            return step

        def body() -> None:
            with block:
                pass

        before = sys.gettrace()
        try:
            sys.settrace(step)
            body()
        except KeyboardInterrupt:
            pass
        finally:
            sys.settrace(before)
        return met, type(block)._here.get()

    assert run(0)[1] is None
    for instruction in range(1, run(0)[0] + 1):
        assert run(instruction)[1] is None


def test_a_block_ends_below_any_number_of_others() -> None:
    others = [pa.policy("torch") for _ in range(10_000)]
    first = pa.policy("jax")
    first.__enter__()
    for other in others:
        other.__enter__()
    first.__exit__(None, None, None)
    for other in reversed(others):
        assert here() == TORCH
        other.__exit__(None, None, None)


def test_one_object_is_entered_again_inside_of_itself() -> None:
    torch = pa.policy("torch")
    with torch as outer, pa.policy("jax"), torch as inner:
        assert inner is outer is pa.get_policy()
        with torch:
            assert here() == TORCH
        assert here() == TORCH
    with torch, torch:
        assert here() == TORCH


def test_a_block_that_ends_out_of_turn_takes_only_itself_away() -> None:
    seen = []
    torch, jax, paddle = pa.policy("torch"), pa.policy("jax"), pa.policy("paddle")
    for block in (torch, jax, paddle):
        block.__enter__()
    for block in (jax, torch, torch, paddle):  # one of them twice
        block.__exit__(None, None, None)
        seen.append(here())
    assert seen == [PADDLE, PADDLE, PADDLE, "numpy@2"]


def test_a_generator_that_is_left_behind_changes_nothing_for_others() -> None:
    def items() -> Iterator[str]:
        with pa.policy("torch"):
            yield here()

    stopped = items()
    assert next(stopped) == TORCH
    with pa.policy("jax"):
        stopped.close()
        assert here() == JAX


def test_a_block_may_end_in_another_context() -> None:
    torch, guard = pa.policy("torch"), pa.no_escape()
    began = contextvars.copy_context()
    began.run(torch.__enter__)
    began.run(guard.__enter__)
    with pa.policy("jax"), pa.trace() as traced:
        torch.__exit__(None, None, None)
        guard.__exit__(None, None, None)
        assert here() == JAX
        elsewhere = pa.trace()
        contextvars.copy_context().run(elsewhere.__enter__)
        elsewhere.__exit__(None, None, None)
        pa.asarray([1], dtype=pa.int8) + pa.ones(1)
    assert len(traced.casts) == 1
    assert began.run(here) == TORCH


def test_guards_add_up_and_end_one_by_one() -> None:
    x, guard = pa.ones(2), pa.no_escape()
    with pa.no_escape(scalars=False), guard:
        with guard, pytest.raises(pa.EscapeError):
            float(x[0])
        with pytest.raises(pa.EscapeError):
            float(x[0])
        guard.__exit__(None, None, None)
        float(x[0])
        with pytest.raises(pa.EscapeError):
            np.asarray(x)


def test_a_task_keeps_to_what_it_was_begun_in_and_no_longer_tells() -> None:
    x = pa.asarray([1], dtype=pa.int8)

    async def later(go: asyncio.Event) -> tuple[str, object]:
        await go.wait()
        x + pa.ones(1)
        try:
            return here(), np.asarray(x)
        except pa.EscapeError as error:
            return here(), type(error)

    async def outer() -> tuple[list[Any], int]:
        go = asyncio.Event()
        with pa.policy("torch"), pa.no_escape(), pa.trace() as over:
            task = asyncio.create_task(later(go))
            await asyncio.sleep(0)
        go.set()
        with pa.trace():  # so that operations are told at all
            return [*(await task)], len(over.casts)

    assert asyncio.run(outer()) == ([TORCH, pa.EscapeError], 0)


# -- decorated functions ----------------------------------------------------------------------


def test_kinds_of_functions_stay_what_they_are() -> None:
    def plain() -> None: ...
    def items() -> Iterator[int]:
        yield 1

    async def later() -> None: ...
    async def stream() -> AsyncIterator[int]:
        yield 1

    held = [pa.policy("torch")(f) for f in (plain, items, later, stream)]
    assert [f.__name__ for f in held] == ["plain", "items", "later", "stream"]
    assert inspect.isgeneratorfunction(held[1])
    assert inspect.iscoroutinefunction(held[2])
    assert inspect.isasyncgenfunction(held[3])


def test_a_generator_runs_under_the_policy_and_its_caller_does_not() -> None:
    told: list[Any] = []

    @pa.policy("torch")
    def items(first: int) -> Any:
        try:
            told.append((here(), (yield first)))
            try:
                yield here()
            except KeyError as error:
                told.append((here(), error))
            yield "after"
        finally:
            told.append(here())
        return "returned"

    def outer() -> Any:
        told.append((yield from items(3)))

    caught = KeyError("thrown")
    with pa.policy("jax"):
        run = outer()
        assert next(run) == 3
        assert here() == JAX
        assert run.send("sent") == TORCH
        assert run.throw(caught) == "after"
        assert here() == JAX
        assert list(run) == []
    assert told == [(TORCH, "sent"), (TORCH, caught), TORCH, "returned"]
    assert caught.__context__ is None


@pytest.mark.parametrize("end", ["close", "throw", "drop"])
def test_a_generator_that_is_not_run_to_its_end_cleans_up_under_the_policy(end: str) -> None:
    told = []

    @pa.policy("torch")
    def items() -> Iterator[int]:
        try:
            yield 1
        finally:
            told.append(here())

    run: Any = items()
    next(run)
    if end == "throw":
        with pytest.raises(ZeroDivisionError):
            run.throw(ZeroDivisionError)
    elif end == "close":
        run.close()
    del run
    assert told == [TORCH]


def test_two_generators_take_turns() -> None:
    def items() -> Iterator[str]:
        for _ in range(3):
            yield here()

    torch, jax = pa.policy("torch")(items), pa.policy("jax")(items)
    assert list(zip(torch(), jax(), strict=True)) == [(TORCH, JAX)] * 3


def test_a_decorated_generator_makes_a_context_manager() -> None:
    @contextmanager
    @pa.policy("torch")
    def block() -> Iterator[str]:
        yield here()

    with block() as inside:
        assert (inside, here()) == (TORCH, "numpy@2")


def test_coroutines_driven_by_hand_take_turns_in_one_context() -> None:
    class Pause:
        def __await__(self) -> Iterator[str]:
            yield here()

    async def work() -> list[str]:
        seen = []
        for _ in range(2):
            await Pause()
            seen.append(here())
        return seen

    torch, jax = (pa.policy(name)(work)() for name in ("torch", "jax"))
    assert [torch.send(None), jax.send(None), torch.send(None)] == [TORCH, JAX, TORCH]
    assert here() == "numpy@2"
    with pytest.raises(StopIteration) as ended:
        torch.send(None)
    assert ended.value.value == [TORCH] * 2
    jax.close()


def test_decorated_coroutines_are_cancelled_and_time_out() -> None:
    told = []

    @pa.policy("torch")
    async def forever() -> None:
        try:
            await asyncio.sleep(60)
        finally:
            await asyncio.sleep(0)
            told.append(here())

    async def outer() -> str:
        with pytest.raises(asyncio.TimeoutError):
            await asyncio.wait_for(forever(), 0.01)
        return here()

    assert asyncio.run(outer()) == "numpy@2"
    assert told == [TORCH]


def test_an_asynchronous_generator_runs_under_the_policy_step_by_step() -> None:
    told: list[Any] = []

    @pa.policy("torch")
    async def stream() -> Any:
        try:
            await asyncio.sleep(0)
            told.append((yield here()))
            try:
                yield here()
            except KeyError:
                await asyncio.sleep(0)
                yield "caught"
        finally:
            await asyncio.sleep(0)
            told.append(here())

    @pa.policy("torch")
    async def block() -> AsyncIterator[str]:
        yield here()

    async def outer() -> list[Any]:
        run = stream()
        seen = [await anext(run), here(), await run.asend("sent"), await run.athrow(KeyError)]
        await run.aclose()
        seen += [here(), [item async for item in stream()]]
        async with asynccontextmanager(block)() as inside:
            seen += [inside, here()]
        return seen

    seen = asyncio.run(outer())
    base = "numpy@2"
    assert seen == [TORCH, base, TORCH, "caught", base, [TORCH, TORCH], TORCH, base]
    assert told == ["sent", TORCH, None, TORCH]


def test_what_is_no_function_is_refused() -> None:
    with pytest.raises(TypeError, match=r"write @policy.* in the line below"):
        pa.policy("torch")(classmethod(here))  # type: ignore[type-var]
    with pytest.raises(TypeError, match="no_escape decorates functions, not 3"):
        pa.no_escape()(3)


# -- one block --------------------------------------------------------------------------------


@pytest.mark.parametrize("name", BLOCKS)
def test_a_trace_is_of_one_block_and_decorates_nothing(name: str) -> None:
    block = BLOCKS[name]()
    with pytest.raises(TypeError, match=rf"pa\.{name} decorates nothing.*with pa\.{name}"):
        block(here)
    with block as first:
        assert first is not None
    for _ in range(2):
        with pytest.raises(RuntimeError, match=rf"this pa\.{name} has had its block; write"), block:
            pass


@pytest.mark.parametrize("name", BLOCKS)
def test_blocks_that_end_out_of_turn_hear_to_their_end(name: str) -> None:
    x, outer, inner = pa.asarray([1], dtype=pa.int8), BLOCKS[name](), pa.trace()
    outer.__enter__()
    second = inner.__enter__()
    outer.__exit__(None, None, None)
    x + pa.ones(1)
    inner.__exit__(None, None, None)
    x + pa.ones(1)
    assert second.casts.total() == 1
