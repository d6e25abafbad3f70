"""``pa.why``: where the dtype of an array came from, asked in a session."""

import gc
import weakref

import numpy as np
import pytest

import promoarray as pa


@pytest.fixture(autouse=True)
def _wide(monkeypatch):
    monkeypatch.setenv("COLUMNS", "300")


def test_an_array_of_promoarrays_tells_its_lines():
    with pa.record("promoarray"):
        x = pa.asarray([1, 2], dtype=pa.int8) + 1.5
        y = x * 2
    first, second = str(pa.why(y)).splitlines()
    assert first.startswith("y  float64  x * 2, test_question.py:")
    assert second.endswith(": int8 + Python float is float64")
    assert pa.why(y).to_dict()["asked"][0]["value"] == "y"


def test_where_nothing_was_recorded_it_says_what_to_write():
    said = str(pa.why(pa.asarray([1.0])))
    assert "float64: it was not made while recording" in said
    assert 'with pa.record("promoarray"): ...' in said
    said = str(pa.why(ValueError("else")))
    assert "ValueError: no recorded call raised it" in said


def test_what_is_no_array_is_refused():
    with pytest.raises(TypeError, match="why takes an array, or the exception of a call; not 3"):
        pa.why(3)


def test_an_array_of_a_framework_and_its_life():
    torch = pytest.importorskip("torch")
    with pa.record("torch"):
        mask = torch.ones(3)
        x = torch.ones(3, dtype=torch.bfloat16) * mask
        inside = str(pa.why(x))
    assert str(pa.why(x)) == inside
    assert "bfloat16 * float32 is float32" in inside
    assert "mask  float32  torch.ones(3), test_question.py:" in inside
    held = weakref.ref(x)
    del x
    gc.collect()
    assert held() is None


MAKING = {
    "torch": """
        torch.Tensor([1]) torch.Tensor(2,3) torch.HalfTensor([1.5]) torch.ones(2).new([1])
        torch.LongTensor(2) torch.autograd.Variable(torch.FloatTensor([1])) torch.tensor(arr)
        torch.from_numpy(arr) torch.frombuffer(arr,dtype=torch.int8)
        torch.func.vmap(torch.exp)(torch.ones(2)) torch.func.grad(torch.sum)(torch.ones(2))
    """,
    "jax": """
        jnp.mgrid[0:3] jnp.r_[1,2] jnp.asarray(arr) jnp.fromfunction(jnp.add,(2,2))
        jax.nn.initializers.he_normal()(key,(2,2)) jax.hessian(jnp.sum)(jnp.ones(2))
        jax.jvp(jnp.exp,(jnp.ones(2),),(jnp.ones(2),))[0] jnp.vectorize(jnp.exp)(jnp.ones(2))
        jax.lax.associative_scan(jnp.add,jnp.ones(3))
    """,
    "paddle": """
        paddle.Tensor(arr) paddle.to_tensor(arr) paddle.assign(arr)
        paddle.utils.dlpack.from_dlpack(paddle.utils.dlpack.to_dlpack(paddle.ones([2])))
        next(iter(paddle.io.DataLoader([np.float32([1.0])],batch_size=1)))
    """,
}


@pytest.mark.parametrize("framework", MAKING)
def test_what_makes_an_array_is_named(framework):
    module = pytest.importorskip(framework)
    names = {framework: module, "np": np, "arr": np.arange(3.0)}
    if framework == "jax":
        names |= {"jnp": module.numpy, "key": module.random.key(0)}
    unsaid = []
    with pa.record(framework):
        for text in MAKING[framework].split():
            asked = pa.why(eval(text, names)).to_dict()["asked"]
            if not any(step["why"] for each in asked for step in each["origin"]):
                unsaid.append(text)
    assert unsaid == []


@pytest.mark.filterwarnings("ignore:.*set_default_tensor_type:UserWarning")
def test_classes_of_pytorch_that_make_tensors_are_those_of_ever():
    torch = pytest.importorskip("torch")
    before = torch.FloatTensor
    with pa.record("torch"):
        x = torch.FloatTensor([1])
        assert isinstance(x, torch.FloatTensor)
        assert not isinstance(x, torch.LongTensor)
        assert x.type(torch.LongTensor).dtype is torch.int64
        assert {torch.FloatTensor: 1}[before] == 1
        torch.set_default_tensor_type("torch.DoubleTensor")
        assert torch.ones(1).dtype is torch.float64
        torch.set_default_tensor_type(torch.FloatTensor)
        assert torch.Tensor([1]).dtype is torch.float32
    assert torch.FloatTensor is before
    assert "__new__" not in vars(torch.Tensor)


def test_a_stop_in_a_session_has_operands_and_remedies_and_no_edit():
    torch = pytest.importorskip("torch")
    with pa.record("torch"):
        x = torch.arange(3)
        try:
            x.mean()
        except RuntimeError as error:
            said = pa.why(error)
    text = str(said)
    assert "x  int64 (3,)  torch.arange(3), test_question.py:" in text
    assert "it runs with x as float32 or x as float64" in text
    assert "promoarray why SCRIPT" in text
    assert said.to_dict()["edit"] is None


def test_a_stop_in_python_of_tensorflow_names_the_function_and_both_operands():
    tf = pytest.importorskip("tensorflow")
    with pa.record("tensorflow"), pytest.raises(TypeError) as stopped:
        tf.truediv(tf.constant([1, 2]), tf.ones(2))
    said = str(pa.why(stopped.value))
    assert "refuses truediv(int32, float32)" in said
    assert "int32 (2,)" in said
    assert "float32 (2,)" in said


def test_a_stop_that_ends_the_block_is_asked_about_afterwards():
    jax = pytest.importorskip("jax")
    jnp = jax.numpy
    try:
        with pa.record("jax"):
            jax.lax.add(jnp.ones(3, jnp.bfloat16), jnp.ones(3) * 2)
    except TypeError as error:
        said = str(pa.why(error))
    assert "refuses lax.add(bfloat16, float32)" in said


def test_an_error_that_was_not_recorded_is_read_from_its_line():
    x = np.arange(3.0)
    i = np.ones(2)
    try:
        x[i]
    except IndexError as error:
        said = pa.why(error)
    text = str(said)
    assert "refuses getitem(float64, float64): arrays used as indices" in text
    assert "i  float64 (2,)  np.ones(2), test_question.py:" in text
    assert "it runs with i as int64" in text
    try:
        x[: len(x) / 2]
    except TypeError as error:
        text = str(pa.why(error))
    assert "Python float 1.5  an integer is asked for" in text


def test_an_argument_is_told_by_the_function_that_has_it():
    def scaled(image, gain):
        image *= gain

    try:
        scaled(np.arange(3), 1.5)
    except TypeError as error:
        text = str(pa.why(error))
    assert "image  int64 (3,)  a parameter of scaled, test_question.py:" in text


def test_a_page_escapes_the_text_of_a_program():
    with pa.record("promoarray"):
        x = pa.asarray([1]) < 2
    page = pa.why(x)._repr_html_()
    assert "&lt; 2" in page
    assert "]) < 2" not in page
