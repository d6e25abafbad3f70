"""A fit, a spectrum and a histogram: tensors of many dtypes, 0-d ones and Python numbers."""

import paddle

paddle.seed(2)
times = paddle.arange(64) * 0.25
signal = 3 * paddle.sin(times) + 0.1 * paddle.randn([64])
counts = paddle.randint(0, 1000, [64], dtype="int32")
rates = counts / 4
doubled = counts * 2.5
weighted = counts * paddle.to_tensor(2.5, dtype="float64")
half = signal.astype("bfloat16") * 2.0
spectrum = paddle.fft.rfft(signal)
power = spectrum.abs() ** 2
frequencies = paddle.fft.rfftfreq(64, 0.25)
peak = frequencies[power.argmax()]
design = paddle.stack([paddle.ones([64]), times, times**2], axis=1)
solution = paddle.linalg.solve(design.T @ design, design.T @ signal)
residual = signal - design @ solution
spread = paddle.sqrt((residual**2).sum() / (64 - 3))
quantized = ((signal - signal.min()) / (signal.max() - signal.min()) * 255).astype("uint8")
brighter = quantized + 10
mask = (quantized.astype("int32") > 100) & (counts % 2 == 0)
chosen = paddle.where(mask, signal, paddle.zeros([64], dtype="float64"))
total = counts.sum() + weighted.mean()
steps = paddle.to_tensor([1, 2, 3]) / 2
steps -= 0.5
folded = paddle.concat([steps, paddle.to_tensor([1.0, 2.0])])
phase = paddle.atan2(spectrum.imag(), spectrum.real())
average = paddle.mean(counts)
