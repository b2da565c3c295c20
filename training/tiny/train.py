"""Trains the model; goes on where it was stopped.

    train.py FOLDER [--steps N] [--layers N] [--width N] ...

The learning rate rises, stays, is halved, and falls to zero over the last `--decay` steps. A training
that is given more steps afterwards goes on at half the rate, and falls again.
"""

import argparse
import time
from concurrent.futures import Executor, ThreadPoolExecutor
from dataclasses import asdict
from pathlib import Path
from random import Random

import torch
from torch import Tensor
from torch.nn import functional as F

from batches import Batch, batches_from
from conversations import converse
from model import Shape, TinyLlama
from optimizer import optimizers
from tokenizer import Tokenizer, train_tokenizer

WARM_UP_STEPS = 60
FULL_RATE_STEPS = 300
SAVE_EVERY_SECONDS = 180


def main() -> None:
    options = read_options()
    folder = Path(options.folder)
    folder.mkdir(parents=True, exist_ok=True)
    torch.set_num_threads(1)
    torch.manual_seed(options.seed)
    tokenizer = ensure_tokenizer(folder / 'tokenizer.json', options)
    shape = Shape(len(tokenizer), options.width, options.layers, options.heads, options.hidden)
    with ThreadPoolExecutor(options.threads) as workers:
        train(TinyLlama(shape), tokenizer, workers, options)


def read_options() -> argparse.Namespace:
    parser = argparse.ArgumentParser()
    parser.add_argument('folder')
    parser.add_argument('--steps', type=int, default=4100)
    parser.add_argument('--decay', type=int, default=1500)
    parser.add_argument('--batch-tokens', type=int, default=4096)
    parser.add_argument('--matrix-rate', type=float, default=0.02)
    parser.add_argument('--other-rate', type=float, default=0.004)
    parser.add_argument('--vocabulary', type=int, default=1536)
    parser.add_argument('--width', type=int, default=256)
    parser.add_argument('--layers', type=int, default=6)
    parser.add_argument('--heads', type=int, default=8)
    parser.add_argument('--hidden', type=int, default=704)
    parser.add_argument('--seed', type=int, default=9)
    parser.add_argument('--threads', type=int, default=2)
    return parser.parse_args()


def ensure_tokenizer(path: Path, options: argparse.Namespace) -> Tokenizer:
    if not path.exists():
        random = Random(f'{options.seed}-tokenizer')
        texts = (message.text for _ in range(20_000) for message in converse(random))
        train_tokenizer(texts, options.vocabulary).save(path)
    return Tokenizer.load(path)


def train(
    model: TinyLlama, tokenizer: Tokenizer, workers: Executor, options: argparse.Namespace
) -> None:
    steppers = optimizers(model, options.matrix_rate, options.other_rate, workers)
    rates = [stepper.param_groups[0]['lr'] for stepper in steppers]
    path = Path(options.folder) / 'checkpoint.pt'
    first = restore(path, model, steppers)
    batches = batches_from(first, tokenizer, options.batch_tokens, options.threads, options.seed)
    mean, started, saved = 0.0, time.monotonic(), time.monotonic()
    for step in range(first, options.steps):
        share = rate_share(step, options.steps, options.decay)
        for stepper, rate in zip(steppers, rates, strict=True):
            stepper.param_groups[0]['lr'] = rate * share
        loss = take_step(model, steppers, next(batches), workers)
        mean = loss if step == first else 0.97 * mean + 0.03 * loss
        if step % 25 == 0:
            elapsed = time.monotonic() - started
            print(
                f'step {step} loss {mean:.4f} rate {share:.3f} elapsed {elapsed:.0f}s', flush=True
            )
        if time.monotonic() - saved > SAVE_EVERY_SECONDS:
            save(path, step + 1, model, steppers)
            saved = time.monotonic()
    save(path, max(first, options.steps), model, steppers)


def rate_share(step: int, steps: int, decay: int) -> float:
    if step < FULL_RATE_STEPS:
        return min(1.0, (step + 1) / WARM_UP_STEPS)
    return 0.5 * min(1.0, (steps - step) / decay)


def take_step(
    model: TinyLlama,
    steppers: list[torch.optim.Optimizer],
    parts: list[Batch],
    workers: Executor,
) -> float:
    """One step on a batch whose parts are worked on side by side; its mean loss."""
    weights = list(model.parameters())
    count = sum(len(part.targets) for part in parts)

    def share(part: Batch) -> tuple[float, tuple[Tensor, ...]]:
        hidden = model.hidden(part.inputs).flatten(0, 1)[part.places]
        logits = model.logits(hidden)
        loss = F.cross_entropy(logits, part.targets, reduction='sum') / count
        return loss.item(), torch.autograd.grad(loss, weights)

    losses, gradients = zip(*workers.map(share, parts), strict=True)
    for weight, *shares in zip(weights, *gradients, strict=True):
        weight.grad = sum(shares[1:], shares[0])
    for stepper in steppers:
        stepper.step()
    return sum(losses)


def save(path: Path, step: int, model: TinyLlama, steppers: list[torch.optim.Optimizer]) -> None:
    state = {
        'step': step,
        'shape': asdict(model.shape),
        'model': model.state_dict(),
        'steppers': [stepper.state_dict() for stepper in steppers],
    }
    part = path.with_suffix('.part')
    torch.save(state, part)
    part.replace(path)


def restore(path: Path, model: TinyLlama, steppers: list[torch.optim.Optimizer]) -> int:
    """Loads what was saved and says at which step to go on."""
    if not path.exists():
        return 0
    state = torch.load(path)
    model.load_state_dict(state['model'])
    for stepper, saved in zip(steppers, state['steppers'], strict=True):
        stepper.load_state_dict(saved)
    return state['step']


if __name__ == '__main__':
    main()
