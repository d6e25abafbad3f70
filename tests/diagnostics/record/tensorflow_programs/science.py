"""Statistics and linear algebra, eagerly."""

import numpy as np
import tensorflow as tf

counts = tf.constant([[3, 1, 2], [4, 0, 5]])
weights = tf.constant(np.linspace(0.1, 1.0, 6).reshape(2, 3))
images = tf.reshape(tf.range(24), [2, 3, 4])
shares = counts / tf.reduce_sum(counts)
means = tf.reduce_mean(counts, axis=0)
half = counts // 2
scaled = weights * 2.5 + 1
products = tf.matmul(weights, weights, transpose_b=True)
centered = weights - tf.reduce_mean(weights, axis=1, keepdims=True)
covariance = tf.linalg.matmul(centered, tf.transpose(centered)) / 2
factors = tf.linalg.cholesky(covariance + 0.5 * tf.eye(2, dtype=tf.float64))
solved = tf.linalg.solve(covariance + tf.eye(2, dtype=tf.float64), products)
norms = tf.norm(weights, axis=1)
logits = tf.nn.softmax(tf.cast(counts, tf.float32))
picked = tf.where(counts > 1, counts, tf.zeros_like(counts))
joined = tf.concat([picked, half], axis=0)
stacked = tf.stack([shares, shares + 1])
clipped = tf.clip_by_value(weights, 0.2, 0.8)
largest = tf.argmax(counts, axis=1)
chosen = tf.gather(weights, largest, axis=1)
waves = tf.signal.fft(tf.cast(weights, tf.complex128))
power = tf.abs(waves) ** 2
ordered = tf.sort(tf.reshape(counts, [-1]))
bits = tf.bitwise.bitwise_and(counts, 1)
hot = tf.one_hot(largest, 3)
total = tf.Variable(tf.zeros([3]))
for row in tf.unstack(tf.cast(counts, tf.float32)):
    total.assign_add(row * 0.5)
total.assign(total / 3.0)
spread = tf.math.reduce_std(weights)
traced = tf.einsum("ij,kj->ik", weights, weights)
cumulated = tf.cumsum(counts, axis=1)
resized = tf.image.resize(tf.cast(images[..., None], tf.float32), [2, 2])
noise = tf.random.stateless_normal([2, 3], seed=[1, 2])
noisy = noise + tf.cast(weights, tf.float32)
any_large = tf.reduce_any(counts > 4)
limit = 1
later = limit < counts
