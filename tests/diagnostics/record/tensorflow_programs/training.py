"""A model of Keras, its losses and optimizer, in a loop with a tape and by ``fit``."""

import numpy as np
import tensorflow as tf

tf.keras.utils.set_random_seed(3)
values = np.linspace(-1, 1, 64, dtype=np.float32).reshape(16, 4)
answers = (values.sum(axis=1) > 0).astype(np.int32)


def scale(x, y):
    return x * 0.5 + 0.25, tf.cast(y, tf.float32)


rows = tf.data.Dataset.from_tensor_slices((values, answers)).map(scale).batch(8)
model = tf.keras.Sequential(
    [
        tf.keras.layers.Dense(8, activation="relu"),
        tf.keras.layers.LayerNormalization(),
        tf.keras.layers.Dropout(0.1),
        tf.keras.layers.Dense(1),
    ]
)
optimizer = tf.keras.optimizers.Adam(0.01)
loss_of = tf.keras.losses.BinaryCrossentropy(from_logits=True)
for x, y in rows:
    with tf.GradientTape() as tape:
        loss = loss_of(y[:, None], model(x, training=True))
    gradients = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(gradients, model.trainable_variables, strict=True))


@tf.function
def penalty(w, rate):
    total = tf.constant(0.0)
    for n in tf.range(3):
        if tf.reduce_sum(w) > 0:
            total += tf.cast(n, tf.float32) * rate
        else:
            total -= rate
    return total * tf.reduce_sum(w * w)


cost = penalty(model.trainable_variables[0], 0.5)
weights = tf.convert_to_tensor(model.trainable_variables[0])
model.compile(optimizer=tf.keras.optimizers.SGD(0.1, momentum=0.9), loss=loss_of)
history = model.fit(rows, epochs=1, verbose=0)
predicted = tf.constant(model.predict(values, verbose=0))
