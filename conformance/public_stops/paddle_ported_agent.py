"""github.com/PaddlePaddle/Paddle/issues/37775: to_tensor in the place of torch.Tensor."""

import numpy as np
import paddle
from paddle import nn


class Actor(nn.Layer):
    def __init__(self, state_dim, action_dim):
        super().__init__()
        self.l1 = nn.Linear(state_dim, 8)
        self.l2 = nn.Linear(8, action_dim)

    def forward(self, state):
        return paddle.tanh(self.l2(nn.functional.relu(self.l1(state))))


class Agent:
    def __init__(self):
        self.actor = Actor(3, 1)

    def act(self, observation):
        state = paddle.to_tensor(observation.reshape(1, -1))
        return self.actor(state).numpy()


observation = np.array([0.1, -0.2, 0.3])
print(Agent().act(observation))
