"""github.com/PaddlePaddle/Paddle/issues/20732: words that NumPy padded with floats."""

import numpy as np
import paddle

sentences = [[3, 5, 1], [2]]
padded = np.zeros((2, 3))
for row, words in enumerate(sentences):
    padded[row, : len(words)] = words
embedding = paddle.nn.Embedding(10, 4)
vectors = embedding(paddle.to_tensor(padded))
print(vectors.shape)
