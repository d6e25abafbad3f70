"""``pa.check``: what a block loses."""

import threading

import pytest

import promoarray as pa

pytestmark = pytest.mark.xdist_group("blocks")  # the first rewrites what is loaded, at some cost


def test_a_block_yields_its_report() -> None:
    with pa.check() as report:
        pa.asarray([200, 100], dtype=pa.uint8) + pa.asarray([100, 100], dtype=pa.uint8)
    (told,) = report.told
    assert told.place.kind == "integer-wrap"
    assert told.words == "1 of 2 elements wraps: 200 + 100 is 300, and uint8 has 44, first at [0]"
    assert "integer-wrap" in str(report)
    assert "<strong>integer-wrap</strong>" in report._repr_html_()
    assert report.to_dict()["losses"][0]["lost"] == 1
    assert report


def test_nothing_is_looked_at_outside() -> None:
    x = pa.asarray([200], dtype=pa.uint8)
    with pa.check() as report:
        pass
    x + x
    assert not report
    assert "nothing was looked at" in str(report)


def test_what_is_not_asked_for_is_not_told() -> None:
    with pa.check("nan-born") as report:
        x = pa.asarray([200], dtype=pa.uint8)
        x + x
        y = pa.asarray([0.0])
        with pytest.warns(RuntimeWarning, match="invalid value"):
            y / y
    assert [each.place.kind for each in report.told] == ["nan-born"]


def test_the_cast_rule_of_the_policy_is_what_counts() -> None:
    with pa.check("cast-out-of-range") as report:
        for name in ("numpy", "jax"):
            with pa.policy(name):
                pa.astype(pa.asarray([3e9]), pa.int32)
    got = [each.place.loss.example.got for each in report.told]
    assert got == ["-2147483648"]  # one line: the first pass is the example
    assert report.told[0].place.passes == 2


def test_in_place_operations_compare_with_what_was_there() -> None:
    x = pa.asarray([250, 1], dtype=pa.uint8)
    with pa.check() as report:
        x += pa.asarray([10, 10], dtype=pa.uint8)
    assert "250 + 10 is 260, and uint8 has 4" in report.told[0].words


def test_a_loop_that_stands_still() -> None:
    with pa.check("absorbed") as report:
        total = pa.asarray(2048.0, dtype=pa.float16)
        for _ in range(5):
            total = total + 1
        once = total + 0.5  # noqa: F841
    (told,) = report.told
    assert (told.place.passes, told.place.total) == (4, 5)  # of the first it is not known yet


def test_results_in_more_digits() -> None:
    with pa.check("unstable", shadow="float32") as report:
        pass
    assert not report
    with pytest.raises(ValueError, match="shadow is float32 or float64"), pa.check(shadow="int8"):
        pass


def test_wrong_arguments() -> None:
    with pytest.raises(ValueError, match="Did you mean integer-wrap"):
        pa.check("integer-warp")
    with pytest.raises(ValueError, match="Did you mean integer-wrap"), pa.check("integer-warp"):
        pass
    with pytest.raises(ValueError, match="write one of torch, paddle, jax, tensorflow"):  # noqa: SIM117
        with pa.check(framework="theano"):
            pass


def test_an_error_in_the_block_passes_and_the_report_has_what_came_before() -> None:
    x = pa.asarray([200], dtype=pa.uint8)
    with pytest.raises(TypeError), pa.check() as report:  # noqa: PT012
        x + x
        x + "text"
    assert report.told


def test_threads_of_the_block_do_not_mix() -> None:
    found = []

    def work() -> None:
        with pa.check("integer-wrap") as report:
            x = pa.asarray([200], dtype=pa.uint8)
            x + x
        found.append(len(report.told))

    threads = [threading.Thread(target=work) for _ in range(4)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    assert found == [1] * 4


def test_a_part_of_a_large_array_is_named() -> None:
    x = pa.zeros((1 << 22) + 1, dtype=pa.float16)
    with pa.check() as report:
        x * 2
    assert "a part of multiply" in report.unread
    with pa.check(every=True) as report:
        x * 2
    assert not report.unread
