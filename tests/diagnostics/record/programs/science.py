"""A fit, a spectrum and a histogram: tensors of many dtypes, 0-d ones and Python numbers."""

import torch

torch.manual_seed(2)
times = torch.arange(64) * 0.25
signal = 3 * torch.sin(times) + 0.1 * torch.randn(64)
counts = torch.randint(0, 1000, (64,), dtype=torch.int32)
rates = counts / times.clamp(min=0.25)
weighted = counts * torch.tensor(2.5, dtype=torch.float64)
half = signal.half() * 2.0
spectrum = torch.fft.rfft(signal)
power = spectrum.abs() ** 2
frequencies = torch.fft.rfftfreq(64, 0.25)
peak = frequencies[power.argmax()]
design = torch.stack([torch.ones(64), times, times**2], dim=1)
solution = torch.linalg.solve(design.T @ design, design.T @ signal)
residual = signal - design @ solution
spread = torch.sqrt((residual**2).sum() / (64 - 3))
quantized = ((signal - signal.min()) / (signal.max() - signal.min()) * 255).to(torch.uint8)
brighter = quantized + 10
mask = (quantized > 100) & (counts % 2 == 0)
chosen = torch.where(mask, signal, torch.tensor(0.0, dtype=torch.float64))
total = counts.sum() + weighted.mean()
steps = torch.tensor([1, 2, 3]) / 2
steps -= 0.5
folded = torch.cat([steps, torch.tensor([1, 2])])
phase = torch.atan2(spectrum.imag, spectrum.real)
