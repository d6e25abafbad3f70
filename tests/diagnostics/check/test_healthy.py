"""Healthy training and inference: nothing is told of it."""

from __future__ import annotations

import importlib
import importlib.util
import warnings
from typing import Any

import pytest

import promoarray as pa

pytestmark = pytest.mark.xdist_group("blocks")  # the first rewrites what is loaded, at some cost


def mlp_with_adam(torch: Any) -> None:
    model = torch.nn.Sequential(
        torch.nn.Linear(20, 64), torch.nn.ReLU(), torch.nn.Dropout(0.1), torch.nn.Linear(64, 5)
    )
    optimizer = torch.optim.AdamW(model.parameters(), 1e-3)
    x, y = torch.randn(64, 20), torch.randint(0, 5, (64,))
    for _ in range(4):
        optimizer.zero_grad()
        torch.nn.functional.cross_entropy(model(x), y).backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()


def convolutions_with_momentum(torch: Any) -> None:
    nn = torch.nn
    model = nn.Sequential(
        *(nn.Conv2d(1, 8, 3), nn.BatchNorm2d(8), nn.ReLU(), nn.MaxPool2d(2)),
        *(nn.Flatten(), nn.Linear(8 * 25, 10)),
    )
    average = torch.optim.swa_utils.AveragedModel(
        model, multi_avg_fn=torch.optim.swa_utils.get_ema_multi_avg_fn(0.99)
    )
    images = torch.randint(0, 256, (16, 1, 12, 12), dtype=torch.uint8)
    x, y = (images.float() / 255 - 0.13) / 0.31, torch.randint(0, 10, (16,))
    optimizer = torch.optim.SGD(model.parameters(), 0.1, momentum=0.9, weight_decay=1e-4)
    for _ in range(4):
        optimizer.zero_grad()
        loss = nn.functional.nll_loss(nn.functional.log_softmax(model(x), 1), y)
        loss.backward()
        optimizer.step()
        average.update_parameters(model)


def causal_attention(torch: Any) -> None:
    x = torch.randn(2, 8, 16, requires_grad=True)
    mask = torch.tril(torch.ones(8, 8))
    scores = (x @ x.transpose(-2, -1)) / 4
    scores = scores.masked_fill(mask == 0, float("-inf"))
    (torch.softmax(scores, -1) @ x).pow(2).mean().backward()
    logits = x[:1, -1].detach()
    best, _ = torch.topk(logits, 5)
    logits[logits < best[:, [-1]]] = -float("inf")
    torch.multinomial(torch.softmax(logits, -1), 1)


def mixed_precision(torch: Any) -> None:
    model = torch.nn.Sequential(torch.nn.Linear(20, 64), torch.nn.ReLU(), torch.nn.Linear(64, 5))
    x, y = torch.randn(64, 20), torch.randint(0, 5, (64,))
    optimizer, scaler = torch.optim.Adam(model.parameters(), 1e-3), torch.amp.GradScaler("cpu")
    for _ in range(4):
        optimizer.zero_grad()
        with torch.autocast("cpu", dtype=torch.float16):
            loss = torch.nn.functional.cross_entropy(model(x), y)
        scaler.scale(loss).backward()
        scaler.step(optimizer)
        scaler.update()


def residuals_under_autocast(torch: Any) -> None:
    embedding, layer = torch.nn.Embedding(32, 16), torch.nn.Linear(16, 16)
    optimizer = torch.optim.AdamW([*embedding.parameters(), *layer.parameters()])
    ids = torch.randint(0, 32, (8, 12))
    for _ in range(2):
        with torch.autocast("cpu", dtype=torch.bfloat16):
            x = embedding(ids)
            x = x + layer(x)  # float32 beside bfloat16, which is what autocast is for
        x.square().mean().backward()
        optimizer.step()
        optimizer.zero_grad()


def inference_in_bfloat16(torch: Any) -> None:
    layer = torch.nn.TransformerEncoderLayer(32, 4, 64, batch_first=True)
    layer = layer.to(torch.bfloat16).eval()
    with torch.no_grad():
        torch.softmax(layer(torch.randn(2, 10, 32).to(torch.bfloat16)), -1).argmax(-1)


def jitted_training(jax: Any) -> None:
    jnp = jax.numpy
    keys = jax.random.split(jax.random.PRNGKey(0), 4)
    weights = [jax.random.normal(keys[0], (10, 32)) * 0.1, jax.random.normal(keys[1], (32, 3))]
    x, y = jax.random.normal(keys[2], (64, 10)), jax.random.randint(keys[3], (64,), 0, 3)

    def loss(weights):
        logits = jax.nn.log_softmax(jax.nn.relu(x @ weights[0]) @ weights[1])
        return -jnp.take_along_axis(logits, y[:, None], 1).mean()

    @jax.jit
    def step(weights, second):
        grads = jax.grad(loss)(weights)
        second = [0.999 * v + 0.001 * g * g for v, g in zip(second, grads, strict=True)]
        every = zip(weights, grads, second, strict=True)
        return [w - 1e-3 * g / (jnp.sqrt(v) + 1e-8) for w, g, v in every], second

    second = [jnp.zeros_like(w) for w in weights]
    for _ in range(3):
        weights, second = step(weights, second)


def paddle_training(paddle: Any) -> None:
    nn = paddle.nn
    model = nn.Sequential(nn.Linear(10, 32), nn.ReLU(), nn.Linear(32, 3))
    optimizer = paddle.optimizer.AdamW(1e-3, parameters=model.parameters())
    x, y = paddle.randn([64, 10]), paddle.randint(0, 3, [64])
    for _ in range(3):
        nn.functional.cross_entropy(model(x), y).backward()
        optimizer.step()
        optimizer.clear_grad()


HEALTHY = {
    "torch": (
        *(mlp_with_adam, convolutions_with_momentum, causal_attention, mixed_precision),
        residuals_under_autocast,
        inference_in_bfloat16,
    ),
    "jax": (jitted_training,),
    "paddle": (paddle_training,),
}


@pytest.mark.parametrize(
    ("framework", "program"), [(name, each) for name, every in HEALTHY.items() for each in every]
)
def test_nothing_is_told(framework, program) -> None:
    if importlib.util.find_spec(framework) is None:
        pytest.skip(f"needs {framework}: pip install 'promoarray[test-{framework}]'")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        library = importlib.import_module(framework)
        getattr(library, "manual_seed", getattr(library, "seed", lambda _: None))(0)
        with pa.check(framework=framework) as report:
            program(library)
    assert not report.told, str(report)
    assert report.examined
    assert not report.unread, report.unread
