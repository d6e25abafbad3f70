"""The same block and step, in JAX alone."""

import jax
import jax.numpy as jnp
import numpy as np

W, H, T = 32, 4, 8


def linear(key, i, o):
    a, b = jax.random.split(key)
    bound = 1 / i**0.5
    return {
        "kernel": jax.random.uniform(a, (i, o), minval=-bound, maxval=bound),
        "bias": jax.random.uniform(b, (o,), minval=-bound, maxval=bound),
    }


def normed(x, p):
    mean = x.mean(-1, keepdims=True)
    var = ((x - mean) ** 2).mean(-1, keepdims=True)
    return (x - mean) / jnp.sqrt(var + 1e-5) * p["scale"] + p["bias"]


def apply(p, x):
    return x @ p["kernel"] + p["bias"]


def block(p, x):
    h = normed(x, p["norm1"])
    b, t, _ = h.shape
    q, k, v = (apply(p[n], h).reshape(b, t, H, W // H).transpose(0, 2, 1, 3) for n in "qkv")
    scores = jnp.einsum("bhqd,bhkd->bhqk", q, k) * (W // H) ** -0.5
    mask = jnp.tril(jnp.ones((t, t)))
    scores = jnp.where(mask == 0, -jnp.inf, scores)
    shares = jax.nn.softmax(scores, axis=-1)
    y = (shares @ v).transpose(0, 2, 1, 3).reshape(b, t, W)
    x = x + apply(p["out"], y)
    h = normed(x, p["norm2"])
    return x + apply(p["down"], jax.nn.gelu(apply(p["up"], h), approximate=False))


def loss_of(p, x, target):
    return ((block(p, x) - target) ** 2).mean()


draw = np.random.RandomState(1)
x = jnp.asarray(draw.normal(size=(2, T, W)).astype("float32"))
target = jnp.asarray(draw.normal(size=(2, T, W)).astype("float32"))
keys = jax.random.split(jax.random.key(0), 6)
sizes = dict.fromkeys(("q", "k", "v", "out"), (W, W)) | {"up": (W, 3 * W), "down": (3 * W, W)}
params = {name: linear(key, *sizes[name]) for key, name in zip(keys, sizes, strict=True)}
for name in ("norm1", "norm2"):
    params[name] = {"scale": jnp.ones(W), "bias": jnp.zeros(W)}
first = jax.tree.map(jnp.zeros_like, params)
second = jax.tree.map(jnp.zeros_like, params)
lr, b1, b2, decay = 1e-2, 0.9, 0.999, 0.01
for n in (1, 2):
    loss, grads = jax.value_and_grad(loss_of)(params, x, target)
    first = jax.tree.map(lambda m, g: b1 * m + (1 - b1) * g, first, grads)
    second = jax.tree.map(lambda v, g: b2 * v + (1 - b2) * g * g, second, grads)

    def updated(p, m, v, n=n):
        root = jnp.sqrt(v / (1 - b2**n)) + 1e-8
        return p * (1 - lr * decay) - lr * (m / (1 - b1**n)) / root

    params = jax.tree.map(updated, params, first, second)
print(loss.item())
