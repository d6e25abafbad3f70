"""Softmax regression on handwritten digits, in the array API.

Nothing below knows about promotion: it is written as one writes it, with uint8 images, int64
labels, float32 weights and Python numbers. Which dtype each line computes in is up to the
framework, and they do not agree::

    python examples/digits.py                  # run it, under NumPy 2's rules
    promoarray compare examples/digits.py      # run it once, and see where the others part ways
"""

from pathlib import Path

import numpy as np

import promoarray as xp

CLASSES = 10
STEPS = 100

with np.load(Path(__file__).parent / "data" / "digits.npz") as data:
    images = xp.asarray(data["images"])  # uint8, 1797 of 8 x 8 pixels from 0 to 16
    labels = xp.asarray(data["labels"])  # int64
count = images.shape[0]

# The pixels, standardized over the whole set. Memory is dear, so they are float32.
brightness = xp.mean(images)
pixels = xp.astype(images, xp.float32) - brightness
spread = xp.mean(pixels**2) ** 0.5
pixels = xp.reshape(pixels / spread, (count, 64))

# Edges: how much neighbouring pixels differ. Unsigned, so the smaller is taken from the larger.
left, right = images[:, :, :-1], images[:, :, 1:]
edges = xp.where(right > left, right - left, left - right)
edges = xp.reshape(edges / 16, (count, 56))

# The amount of ink, and whether there is more of it above than below.
above = xp.sum(images[:, :4, :], axis=(1, 2))
below = xp.sum(images[:, 4:, :], axis=(1, 2))
ink = (above + below) / (16 * 64)
shape = xp.stack([ink - xp.mean(ink), above > below], axis=1)

features = xp.concat([pixels, edges, shape], axis=1)

# Every fifth image is for testing.
is_test = xp.arange(count) % 5 == 0
train, test = features[~is_test, :], features[is_test, :]
train_labels, test_labels = labels[~is_test], labels[is_test]

# Rare digits count for more.
digits = xp.arange(CLASSES)
one_hot = xp.reshape(train_labels, (-1, 1)) == digits
per_class = xp.sum(one_hot, axis=0)
class_weights = xp.mean(per_class) / per_class
sample_weights = xp.reshape(class_weights[train_labels], (-1, 1))


def softmax(scores):
    exps = xp.exp(scores - xp.max(scores, axis=1, keepdims=True))
    return exps / xp.sum(exps, axis=1, keepdims=True)


weights = xp.zeros((features.shape[1], CLASSES), dtype=xp.float32)
bias = xp.zeros(CLASSES, dtype=xp.float32)
for step in range(STEPS):
    rate = 0.5 / (1 + step / STEPS)
    probabilities = softmax(train @ weights + bias)
    error = (probabilities - one_hot) * sample_weights
    gradient = train.T @ error / train.shape[0] + weights / 1000
    weights = weights - rate * gradient
    bias = bias - rate * xp.mean(error, axis=0)

likelihood = xp.sum(probabilities * one_hot, axis=1)
loss = -xp.mean(xp.log(likelihood)) + xp.sum(weights**2) / 2000

probabilities = softmax(test @ weights + bias)
expected = xp.sum(probabilities * digits, axis=1)  # the digit on average, if unsure
distance = xp.mean((expected - test_labels) ** 2) ** 0.5
accuracy = xp.mean(test_labels == xp.argmax(probabilities, axis=1))

print(f"loss {float(loss):.4f}, root mean square distance {float(distance):.4f}")
print(f"accuracy {float(accuracy):.4f}, weights are {weights.dtype}")
