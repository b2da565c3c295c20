"""A small Llama: pre-norm RMSNorm, rotary attention, SwiGLU, tied embeddings.

Weights are float32; the matrix products run in bfloat16 where the processor has instructions for it,
which makes them fast there and very slow elsewhere.
"""

from dataclasses import dataclass
from pathlib import Path

import torch
from torch import Tensor, nn
from torch.nn import functional as F


def work_type() -> torch.dtype:
    has_bfloat16 = 'avx512_bf16' in Path('/proc/cpuinfo').read_text(encoding='utf-8')
    return torch.bfloat16 if has_bfloat16 else torch.float32


WORK_TYPE = work_type()


@dataclass(frozen=True)
class Shape:
    """The sizes of a model, named as the GGUF metadata names them."""

    vocabulary: int
    width: int
    layers: int
    heads: int
    hidden: int
    context: int = 1024
    norm_epsilon: float = 1e-5
    rope_base: float = 10000.0

    @property
    def head_width(self) -> int:
        return self.width // self.heads


class Norm(nn.Module):
    """RMSNorm in float32; the result is in the work type."""

    def __init__(self, width: int, epsilon: float):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(width))
        self.epsilon = epsilon

    def forward(self, x: Tensor) -> Tensor:
        scale = torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + self.epsilon)
        return (x * scale * self.weight).to(WORK_TYPE)


class Matrix(nn.Module):
    """A linear map without bias."""

    def __init__(self, columns: int, rows: int, deviation: float):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(rows, columns) * deviation)

    def forward(self, x: Tensor) -> Tensor:
        return F.linear(x, self.weight.to(WORK_TYPE))


class Attention(nn.Module):
    """Causal attention; pairs of neighbouring values are rotated, as llama.cpp does it."""

    def __init__(self, shape: Shape):
        super().__init__()
        width, deviation = shape.width, shape.width**-0.5
        self.heads = shape.heads
        self.attn_q = Matrix(width, width, deviation)
        self.attn_k = Matrix(width, width, deviation)
        self.attn_v = Matrix(width, width, deviation)
        self.attn_output = Matrix(width, width, deviation / (2 * shape.layers) ** 0.5)

    def forward(self, x: Tensor, rotation: tuple[Tensor, Tensor], mask: Tensor) -> Tensor:
        batch, length, width = x.shape
        split = (batch, length, self.heads, width // self.heads)
        q = rotate(self.attn_q(x).view(split), rotation).transpose(1, 2)
        k = rotate(self.attn_k(x).view(split), rotation).transpose(1, 2)
        v = self.attn_v(x).view(split).transpose(1, 2)
        scores = q @ k.transpose(2, 3) * (split[3] ** -0.5) + mask
        mixed = scores.softmax(-1) @ v
        return self.attn_output(mixed.transpose(1, 2).reshape(batch, length, width))


def rotate(x: Tensor, rotation: tuple[Tensor, Tensor]) -> Tensor:
    cosine, sine = rotation
    even, odd = x[..., 0::2], x[..., 1::2]
    return torch.stack((even * cosine - odd * sine, even * sine + odd * cosine), -1).flatten(3)


class FeedForward(nn.Module):
    def __init__(self, shape: Shape):
        super().__init__()
        width, hidden = shape.width, shape.hidden
        self.ffn_gate = Matrix(width, hidden, width**-0.5)
        self.ffn_up = Matrix(width, hidden, width**-0.5)
        self.ffn_down = Matrix(hidden, width, (hidden * 2 * shape.layers) ** -0.5)

    def forward(self, x: Tensor) -> Tensor:
        return self.ffn_down(F.silu(self.ffn_gate(x)) * self.ffn_up(x))


class Block(nn.Module):
    def __init__(self, shape: Shape):
        super().__init__()
        self.attn_norm = Norm(shape.width, shape.norm_epsilon)
        self.attention = Attention(shape)
        self.ffn_norm = Norm(shape.width, shape.norm_epsilon)
        self.feed_forward = FeedForward(shape)

    def forward(self, x: Tensor, rotation: tuple[Tensor, Tensor], mask: Tensor) -> Tensor:
        x = x + self.attention(self.attn_norm(x), rotation, mask)
        return x + self.feed_forward(self.ffn_norm(x))


class TinyLlama(nn.Module):
    def __init__(self, shape: Shape):
        super().__init__()
        self.shape = shape
        self.token_embd = nn.Parameter(torch.randn(shape.vocabulary, shape.width) * 0.02)
        self.blocks = nn.ModuleList(Block(shape) for _ in range(shape.layers))
        self.output_norm = Norm(shape.width, shape.norm_epsilon)
        self.rotation = rotation_table(shape)

    def hidden(self, tokens: Tensor) -> Tensor:
        """What stands before the output layer, for rows of tokens that all begin at position 0."""
        length = tokens.shape[1]
        rotation = (self.rotation[0][:length], self.rotation[1][:length])
        mask = torch.full((length, length), -1e9).triu(1).to(WORK_TYPE)
        x = F.embedding(tokens, self.token_embd)
        for block in self.blocks:
            x = block(x, rotation, mask)
        return self.output_norm(x)

    def logits(self, hidden: Tensor) -> Tensor:
        return F.linear(hidden, self.token_embd.to(WORK_TYPE)).float()


def rotation_table(shape: Shape) -> tuple[Tensor, Tensor]:
    half = shape.head_width // 2
    rates = shape.rope_base ** (-torch.arange(half, dtype=torch.float64) / half)
    angles = torch.outer(torch.arange(shape.context, dtype=torch.float64), rates)
    cosine, sine = angles.cos(), angles.sin()
    return cosine[:, None, :].to(WORK_TYPE), sine[:, None, :].to(WORK_TYPE)
