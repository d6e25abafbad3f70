"""The same CNN and step in JAX, written out: NHWC, HWIO."""

import jax
import jax.numpy as jnp
import numpy as np

draw = np.random.RandomState(2)


def given(*shape):
    return draw.normal(size=shape, scale=0.3).astype("float32")


def conv(p, x):
    y = jax.lax.conv_general_dilated(
        x, p["w"], (1, 1), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC")
    )
    return y + p["b"]


def norm(p, state, x, train):
    if train:
        mean, var = x.mean((0, 1, 2)), x.var((0, 1, 2))
        count = x.shape[0] * x.shape[1] * x.shape[2]
        state = {
            "mean": 0.9 * state["mean"] + 0.1 * mean,
            "var": 0.9 * state["var"] + 0.1 * var * (count / (count - 1)),
        }
    else:
        mean, var = state["mean"], state["var"]
    return (x - mean) / jnp.sqrt(var + 1e-5) * p["scale"] + p["bias"], state


def pool(x):
    b, h, w, c = x.shape
    return x.reshape(b, h // 2, 2, w // 2, 2, c).max((2, 4))


def net(p, state, x, train=True):
    y, s1 = norm(p["bn1"], state[0], conv(p["conv1"], x), train)
    y = pool(jax.nn.relu(y))
    z, s2 = norm(p["bn2"], state[1], conv(p["conv2"], y), train)
    y = y + jax.nn.silu(z)
    return y.mean((1, 2)) @ p["head"]["w"] + p["head"]["b"], (s1, s2)


def loss_of(p, state, x, label):
    logits, state = net(p, state, x)
    picked = jnp.take_along_axis(jax.nn.log_softmax(logits), label[:, None], axis=1)
    return -picked.mean(), state


x = jnp.asarray(given(4, 3, 8, 8).transpose(0, 2, 3, 1))
label = jnp.asarray(draw.randint(0, 5, 4))
params = {}
for name, i, o in (("conv1", 3, 8), ("conv2", 8, 8)):
    w = given(o, i, 3, 3).transpose(2, 3, 1, 0)
    params[name] = {"w": jnp.asarray(w), "b": jnp.asarray(given(o))}
params["head"] = {"w": jnp.asarray(given(5, 8).T), "b": jnp.asarray(given(5))}
for name in ("bn1", "bn2"):
    params[name] = {"scale": jnp.ones(8), "bias": jnp.zeros(8)}
state = tuple({"mean": jnp.zeros(8), "var": jnp.ones(8)} for _ in range(2))
momentum = jax.tree.map(jnp.zeros_like, params)
for _ in range(2):
    (loss, state), grads = jax.value_and_grad(loss_of, has_aux=True)(params, state, x, label)
    momentum = jax.tree.map(lambda m, g: 0.9 * m + g, momentum, grads)
    params = jax.tree.map(lambda p, m: p - 0.1 * m, params, momentum)
print(net(params, state, x, train=False)[0].sum().item())
