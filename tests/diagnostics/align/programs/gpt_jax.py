"""Layers of a GPT with attention written out, in JAX."""

import jax
import jax.numpy as jnp
import numpy as np

C, H, T, V = 32, 4, 8, 20


def dense(key, i, o):
    a, b = jax.random.split(key)
    return {"w": jax.random.normal(a, (i, o)) * 0.02, "b": jax.random.normal(b, (o,)) * 0.02}


def attention(p, x):
    b, t, _ = x.shape
    q, k, v = jnp.split(x @ p["attn"]["w"] + p["attn"]["b"], 3, axis=-1)
    q, k, v = (z.reshape(b, t, H, C // H).transpose(0, 2, 1, 3) for z in (q, k, v))
    att = (q @ k.swapaxes(-1, -2)) * (C // H) ** -0.5
    mask = jnp.tril(jnp.ones((t, t)))
    att = jnp.where(mask == 0, -jnp.inf, att)
    att = jax.nn.softmax(att, axis=-1)
    y = (att @ v).transpose(0, 2, 1, 3).reshape(b, t, C)
    return y @ p["proj"]["w"] + p["proj"]["b"]


def normed(x):
    mean = x.mean(-1, keepdims=True)
    return (x - mean) / jnp.sqrt(((x - mean) ** 2).mean(-1, keepdims=True) + 1e-5)


def gpt(p, idx):
    x = p["wte"][idx] + p["wpe"][jnp.arange(idx.shape[1])]
    for block in p["blocks"]:
        x = x + attention(block, normed(x))
    return x @ p["head"]


keys = jax.random.split(jax.random.PRNGKey(0), 8)
p = {
    "wte": jax.random.normal(keys[0], (V, C)),
    "wpe": jax.random.normal(keys[1], (T, C)),
    "blocks": [
        {"attn": dense(keys[n], C, 3 * C), "proj": dense(keys[n + 2], C, C)} for n in (2, 3)
    ],
    "head": jax.random.normal(keys[6], (C, V)),
}
idx = np.random.RandomState(0).randint(0, V, (2, T))
logits = gpt(p, idx)
logp = jax.nn.log_softmax(logits.reshape(-1, V))
print(-jnp.take_along_axis(logp, idx.reshape(-1, 1), 1).mean())
