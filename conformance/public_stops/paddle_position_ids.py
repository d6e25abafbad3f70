"""github.com/PaddlePaddle/ERNIE/issues/1392: positions in int64 and an offset in int32."""

import paddle


class Embedder(paddle.nn.Layer):
    def __init__(self):
        super().__init__()
        self.positions = paddle.nn.Embedding(32, 4)

    def forward(self, input_ids, past_length):
        ids = paddle.arange(input_ids.shape[1])
        return self.positions(ids + past_length)


lengths = paddle.to_tensor([3], dtype="int32")
out = Embedder()(paddle.ones([1, 5], dtype="int64"), lengths)
print(out.shape)
