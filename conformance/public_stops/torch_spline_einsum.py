"""github.com/KindXiaoming/pykan/issues/105: coefficients in float32, a basis of float64 data."""

import numpy as np
import torch


def b_batch(x, grid):
    return torch.exp(-((x[:, :, None] - grid[:, None, :]) ** 2))


def coef2curve(x_eval, grid, coef):
    y_eval = torch.einsum("ij,ijk->ik", coef, b_batch(x_eval, grid))
    return y_eval


data = np.random.default_rng(0).normal(size=(20, 2))
x = torch.from_numpy(data).T
grid = torch.einsum("i,j->ij", torch.ones(2), torch.linspace(-1, 1, 5))
coef = torch.nn.Parameter(torch.randn(2, 20))
print(coef2curve(x, grid, coef).shape)
