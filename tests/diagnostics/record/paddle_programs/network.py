"""A small network with layer normalization, Adam, clipped gradients and a measure of its hits."""

import paddle
from paddle import nn
from paddle.nn import functional as F

paddle.seed(0)
images = paddle.randint(0, 256, [64, 16]).astype("uint8")
labels = (images.astype("float32").mean(1) > 127).astype("int64")
net = nn.Sequential(
    nn.Linear(16, 32), nn.LayerNorm(32), nn.GELU(), nn.Dropout(0.1), nn.Linear(32, 2)
)
schedule = paddle.optimizer.lr.CosineAnnealingDecay(1e-2, T_max=10)
optimizer = paddle.optimizer.Adam(
    schedule, parameters=net.parameters(), grad_clip=nn.ClipGradByGlobalNorm(1.0)
)
for _ in range(4):
    x = (images.astype("float32") / 255 - 0.5) / 0.25
    logits = net(x)
    loss = F.cross_entropy(logits, labels)
    loss.backward()
    optimizer.step()
    optimizer.clear_grad()
    schedule.step()
hits = (logits.argmax(1) == labels).sum()
rate = hits / 64
share = F.softmax(logits / 2.0, axis=-1)
entropy = -(share * paddle.log(share + 1e-9)).sum(-1).mean()
angles = paddle.arange(16) / 16
frequencies = 1.0 / (10000 ** (paddle.arange(16) / 16))
mixed = logits.astype("bfloat16") * 0.5 + logits
