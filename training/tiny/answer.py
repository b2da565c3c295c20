"""Answers the examination in PyTorch, with the weights as the GGUF file holds them.

answer.py FOLDER [--limit N]
"""

import argparse
import json
from pathlib import Path

import torch

from batches import conversation_row
from conversations import Message
from examination import KNOWN, NEW, as_markdown, examine, mean, tabulate
from gguf import restored
from model import Shape, TinyLlama
from tokenizer import ROLES, Tokenizer

TOKENS_MAX = 120


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument('folder')
    options = parser.parse_args()
    folder = Path(options.folder)
    torch.set_num_threads(1)
    tokenizer = Tokenizer.load(folder / 'tokenizer.json')
    model = load(folder / 'checkpoint.pt')
    turns = [question.turn for question in examine()]
    prompts = [prompt_of(turn.system, turn.question, tokenizer) for turn in turns]
    answers = answer_all(model, tokenizer, prompts)
    (folder / 'answers-python.json').write_text(json.dumps(answers), encoding='utf-8')
    table = tabulate(answers)
    print(as_markdown(table))
    print(f'mean: {mean(table, KNOWN):.3f} {KNOWN}, {mean(table, NEW):.3f} {NEW}')


def load(path: Path) -> TinyLlama:
    state = torch.load(path)
    model = TinyLlama(Shape(**state['shape']))
    for name, weight in state['model'].items():
        if weight.ndim == 2:
            state['model'][name] = torch.from_numpy(restored(weight.numpy()))
    model.load_state_dict(state['model'])
    return model.eval()


def prompt_of(system: str, question: str, tokenizer: Tokenizer) -> list[int]:
    messages = [Message('system', system)] if system else []
    row = conversation_row([*messages, Message('user', question)], tokenizer)
    return [*row.tokens, tokenizer.ids[ROLES['assistant']]]


@torch.no_grad()
def answer_all(model: TinyLlama, tokenizer: Tokenizer, prompts: list[list[int]]) -> list[str]:
    """Greedy answers; prompts of one length are answered together."""
    groups: dict[int, list[int]] = {}
    for i, prompt in enumerate(prompts):
        groups.setdefault(len(prompt), []).append(i)
    answers = [''] * len(prompts)
    for group in groups.values():
        tokens = torch.tensor([prompts[i] for i in group])
        for i, given in zip(group, answer_group(model, tokenizer, tokens), strict=True):
            answers[i] = tokenizer.decode(given)
    return answers


def answer_group(model: TinyLlama, tokenizer: Tokenizer, tokens: torch.Tensor) -> list[list[int]]:
    start = tokens.shape[1]
    ended = torch.zeros(len(tokens), dtype=torch.bool)
    while not ended.all() and tokens.shape[1] < start + TOKENS_MAX:
        chosen = model.logits(model.hidden(tokens)[:, -1]).argmax(-1)
        chosen[ended] = tokenizer.end_of_turn
        ended |= (chosen == tokenizer.end_of_turn) | (chosen == tokenizer.end)
        tokens = torch.cat((tokens, chosen[:, None]), 1)
    rows = tokens[:, start:].tolist()
    stops = (tokenizer.end_of_turn, tokenizer.end)
    return [
        row[: next((i for i, token in enumerate(row) if token in stops), len(row))] for row in rows
    ]


if __name__ == '__main__':
    main()
