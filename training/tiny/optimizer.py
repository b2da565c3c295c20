"""Muon for the matrices, Adam for the rest."""

from concurrent.futures import Executor

import torch
from torch import Tensor, nn

from model import WORK_TYPE, TinyLlama


class Muon(torch.optim.Optimizer):
    """Momentum whose step is made orthogonal, so that no direction of a matrix is left behind."""

    def __init__(
        self,
        matrices: list[nn.Parameter],
        rate: float,
        workers: Executor,
        momentum: float = 0.95,
        decay: float = 0.02,
    ):
        super().__init__(matrices, {'lr': rate, 'momentum': momentum, 'decay': decay})
        self.workers = workers

    def step(self, closure: None = None) -> None:
        for group in self.param_groups:
            list(self.workers.map(lambda weight: self._step(weight, group), group['params']))

    @torch.no_grad()
    def _step(self, weight: nn.Parameter, group: dict[str, float]) -> None:
        if weight.grad is None:
            return
        state = self.state[weight]
        if not state:
            state['momentum'] = torch.zeros_like(weight)
        moving = state['momentum'].mul_(group['momentum']).add_(weight.grad)
        step = orthogonal(weight.grad.add(moving, alpha=group['momentum']))
        scale = max(1.0, weight.shape[0] / weight.shape[1]) ** 0.5
        weight.mul_(1 - group['lr'] * group['decay'])
        weight.add_(step, alpha=-group['lr'] * scale)


def orthogonal(gradient: Tensor, rounds: int = 5) -> Tensor:
    """The nearest matrix with all singular values near 1, by Newton and Schulz's iteration."""
    a, b, c = 3.4445, -4.7750, 2.0315
    x = gradient / (gradient.norm() + 1e-7)
    x = x.to(WORK_TYPE)
    if is_tall := x.shape[0] > x.shape[1]:
        x = x.T.contiguous()
    for _ in range(rounds):
        square = x @ x.T
        x = a * x + (b * square + c * (square @ square)) @ x
    return (x.T if is_tall else x).float()


def optimizers(
    model: TinyLlama, matrix_rate: float, other_rate: float, workers: Executor
) -> list[torch.optim.Optimizer]:
    matrices = [weight for weight in model.blocks.parameters() if weight.ndim == 2]
    others = [model.token_embd, *(weight for weight in model.parameters() if weight.ndim == 1)]
    return [
        Muon(matrices, matrix_rate, workers),
        torch.optim.AdamW(others, lr=other_rate, betas=(0.9, 0.98), weight_decay=0.0),
    ]
