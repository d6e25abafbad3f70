"""A convolutional network on images of bytes, trained in mixed precision."""

import paddle
from paddle import nn
from paddle.nn import functional as F

paddle.seed(1)
images = paddle.randint(0, 256, [16, 1, 12, 12])
labels = images.sum([1, 2, 3]) % 4
inputs = (images / 255 - 0.5) / 0.25
net = nn.Sequential(
    nn.Conv2D(1, 8, 3, padding=1), nn.BatchNorm2D(8), nn.ReLU(), nn.MaxPool2D(2),
    nn.Conv2D(8, 16, 3, padding=1), nn.Silu(), nn.AdaptiveAvgPool2D(1), nn.Flatten(),
    nn.Linear(16, 4),
)  # fmt: skip
optimizer = paddle.optimizer.Momentum(0.05, parameters=net.parameters(), weight_decay=1e-4)
scaler = paddle.amp.GradScaler(init_loss_scaling=1024.0)
average = [p.detach().clone().astype("bfloat16") for p in net.parameters()]
for _ in range(4):
    with paddle.amp.auto_cast(dtype="bfloat16"):
        logits = net(inputs)
        loss = F.cross_entropy(logits, labels) + logits.pow(2).mean() * 1e-4
    scaler.scale(loss).backward()
    scaler.step(optimizer)
    scaler.update()
    optimizer.clear_grad()
    with paddle.no_grad():
        average = [kept * 0.9 + p * 0.1 for kept, p in zip(average, net.parameters(), strict=True)]
confusion = paddle.zeros([4, 4], dtype="int32")
for truth, found in zip(labels.tolist(), logits.argmax(1).tolist(), strict=True):
    confusion[truth, found] += 1
recall = confusion.diagonal() / confusion.sum(1, dtype="int32").clip(min=1)
brightness = images.astype("float32").mean() / images.max()
