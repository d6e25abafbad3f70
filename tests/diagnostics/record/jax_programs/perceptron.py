"""A perceptron in jit and grad, with Adam by hand and a schedule, on images of uint8."""

import jax
import jax.numpy as jnp

key = jax.random.PRNGKey(0)
images = jax.random.randint(key, (64, 16), 0, 256).astype(jnp.uint8)
labels = (images.mean(1) > 127).astype(jnp.int32)


def begun(key, sizes):
    keys = jax.random.split(key, len(sizes) - 1)
    shapes = zip(keys, sizes[:-1], sizes[1:], strict=True)
    return [(jax.random.normal(k, (a, b)) / jnp.sqrt(a), jnp.zeros(b)) for k, a, b in shapes]


def forward(params, x):
    for w, b in params[:-1]:
        x = jax.nn.relu(x @ w + b)
    w, b = params[-1]
    return x @ w + b


def loss_of(params, x, y):
    logits = forward(params, x)
    log_p = logits - jax.scipy.special.logsumexp(logits, axis=-1, keepdims=True)
    one = y[:, None] == jnp.arange(2)
    decay = sum((w**2).sum() for w, _ in params)
    return -(one * log_p).sum(-1).mean() + 1e-4 * decay


@jax.jit
def step(params, first, second, i, x, y):
    loss, slopes = jax.value_and_grad(loss_of)(params, x, y)
    rate = 1e-2 * jnp.minimum(1.0, (i + 1) / 5)
    first = jax.tree.map(lambda m, g: 0.9 * m + 0.1 * g, first, slopes)
    second = jax.tree.map(lambda v, g: 0.99 * v + 0.01 * g**2, second, slopes)
    params = jax.tree.map(
        lambda p, m, v: p - rate * m / (jnp.sqrt(v) + 1e-8), params, first, second
    )
    return params, first, second, loss


params = begun(key, (16, 32, 2))
first = second = jax.tree.map(jnp.zeros_like, params)
x = images / 255 - 0.5
for i in range(5):
    params, first, second, loss = step(params, first, second, i, x, labels)
predicted = forward(params, x).argmax(1)
accuracy = (predicted == labels).sum() / len(labels)
half = x.astype(jnp.bfloat16) * 0.1
mixed = half + x
brightness = images.sum() // images.size
