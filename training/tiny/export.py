"""Writes a checkpoint as the GGUF file that ships: export.py FOLDER FILE"""

import sys
from pathlib import Path

import torch

from gguf import ALIGNMENT, Tensor, Value, eight_bit_tensor, float_tensor, write_gguf
from model import Shape
from tokenizer import BEGIN, END, END_OF_TURN, SPECIALS, UNKNOWN, Tokenizer

NAME = 'ennead-tiny'
DESCRIPTION = (
    'A very small language model that follows a few kinds of short English instructions. '
    'It was trained on generated examples only and knows next to nothing of the world.'
)
# Concatenation is by `+` and not `~`, which not every reader of templates knows.
CHAT_TEMPLATE = (
    '{% for message in messages %}'
    "{{ '<|' + message['role'] + '|>' + message['content'] + '<|end|>' }}"
    "{% endfor %}{% if add_generation_prompt %}{{ '<|assistant|>' }}{% endif %}"
)
NORMAL, UNKNOWN_KIND, CONTROL, BYTE = 1, 2, 3, 6
MOSTLY_Q8_0 = 7


def main(folder: Path, target: Path) -> None:
    state = torch.load(folder / 'checkpoint.pt')
    shape = Shape(**state['shape'])
    tokenizer = Tokenizer.load(folder / 'tokenizer.json')
    write_gguf(target, describe(shape, tokenizer), tensors(state['model']))
    print(f'{target}: {target.stat().st_size} bytes after {state["step"]} steps')


def describe(shape: Shape, tokenizer: Tokenizer) -> dict[str, Value]:
    return {
        'general.architecture': 'llama',
        'general.type': 'model',
        'general.name': NAME,
        'general.description': DESCRIPTION,
        'general.license': 'apache-2.0',
        'general.languages': ['en'],
        'general.file_type': MOSTLY_Q8_0,
        'general.quantization_version': 2,
        'general.alignment': ALIGNMENT,
        'llama.context_length': shape.context,
        'llama.embedding_length': shape.width,
        'llama.block_count': shape.layers,
        'llama.feed_forward_length': shape.hidden,
        'llama.attention.head_count': shape.heads,
        'llama.attention.head_count_kv': shape.heads,
        'llama.attention.layer_norm_rms_epsilon': shape.norm_epsilon,
        'llama.rope.dimension_count': shape.head_width,
        'llama.rope.freq_base': shape.rope_base,
        'llama.vocab_size': shape.vocabulary,
        **describe_tokenizer(tokenizer),
        'tokenizer.chat_template': CHAT_TEMPLATE,
    }


def describe_tokenizer(tokenizer: Tokenizer) -> dict[str, Value]:
    return {
        'tokenizer.ggml.model': 'llama',
        'tokenizer.ggml.tokens': list(tokenizer.tokens),
        # The pair of the highest score is merged first, so an earlier piece wins.
        'tokenizer.ggml.scores': [-float(i) for i in range(len(tokenizer))],
        'tokenizer.ggml.token_type': [kind_of(i, tokenizer) for i in range(len(tokenizer))],
        'tokenizer.ggml.unknown_token_id': tokenizer.ids[UNKNOWN],
        'tokenizer.ggml.bos_token_id': tokenizer.ids[BEGIN],
        'tokenizer.ggml.eos_token_id': tokenizer.ids[END],
        'tokenizer.ggml.eot_token_id': tokenizer.ids[END_OF_TURN],
        'tokenizer.ggml.add_bos_token': True,
        'tokenizer.ggml.add_eos_token': False,
        'tokenizer.ggml.add_space_prefix': False,
    }


def kind_of(token: int, tokenizer: Tokenizer) -> int:
    if token == tokenizer.ids[UNKNOWN]:
        return UNKNOWN_KIND
    if token < len(SPECIALS):
        return CONTROL
    return BYTE if token < tokenizer.first_piece else NORMAL


def tensors(weights: dict[str, torch.Tensor]) -> list[Tensor]:
    result = []
    for name, weight in weights.items():
        make = float_tensor if weight.ndim == 1 else eight_bit_tensor
        result.append(make(gguf_name(name), weight.numpy()))
    return result


def gguf_name(name: str) -> str:
    """`blocks.0.attention.attn_q.weight` becomes `blk.0.attn_q.weight`."""
    if name == 'token_embd':
        return 'token_embd.weight'
    parts = name.split('.')
    if parts[0] == 'blocks':
        return '.'.join(('blk', parts[1], *parts[-2:]))
    return name


if __name__ == '__main__':
    main(Path(sys.argv[1]), Path(sys.argv[2]))
