"""A transformer block and a step of AdamW, in Paddle."""

import numpy as np
import paddle
import paddle.nn.functional as F
from paddle import nn

W, H, T = 32, 4, 8


class Block(nn.Layer):
    def __init__(self):
        super().__init__()
        self.norm1, self.norm2 = nn.LayerNorm(W), nn.LayerNorm(W)
        self.q, self.k, self.v, self.out = (nn.Linear(W, W) for _ in range(4))
        self.up, self.down = nn.Linear(W, 3 * W), nn.Linear(3 * W, W)

    def forward(self, x):
        h = self.norm1(x)
        b, t, _ = h.shape
        q, k, v = (
            m(h).reshape([b, t, H, W // H]).transpose([0, 2, 1, 3])
            for m in (self.q, self.k, self.v)
        )
        scores = q @ k.transpose([0, 1, 3, 2]) / (W // H) ** 0.5
        mask = paddle.tril(paddle.ones([t, t])) == 0
        shares = F.softmax(scores.masked_fill(mask, float("-inf")), axis=-1)
        y = (shares @ v).transpose([0, 2, 1, 3]).reshape([b, t, W])
        x = x + self.out(y)
        h = self.norm2(x)
        return x + self.down(F.gelu(self.up(h)))


draw = np.random.RandomState(1)
x = paddle.to_tensor(draw.normal(size=(2, T, W)).astype("float32"))
target = paddle.to_tensor(draw.normal(size=(2, T, W)).astype("float32"))
model = Block()
step = paddle.optimizer.AdamW(1e-2, parameters=model.parameters(), weight_decay=0.01)
for _ in range(2):
    loss = F.mse_loss(model(x), target)
    step.clear_grad()
    loss.backward()
    step.step()
print(loss.item())
