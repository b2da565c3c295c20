"""Writes what was measured through the GGUF file into the model card.

report.py RESULT MODEL CARD
"""

import json
import re
import sys
from pathlib import Path

from examination import HAND_WRITTEN, KNOWN, NEW, as_markdown, examine, mean, tabulate


def main(result_path: Path, model_path: Path, card_path: Path) -> None:
    result = json.loads(result_path.read_text(encoding='utf-8'))
    figures = describe(result, model_path.stat().st_size)
    card = card_path.read_text(encoding='utf-8')
    marked = re.compile(r'(<!-- figures -->\n).*(<!-- end of figures -->)', re.DOTALL)
    card = marked.sub(lambda match: match[1] + figures + match[2], card)
    card_path.write_text(card, encoding='utf-8')
    print(figures)


def describe(result: dict, size: int) -> str:
    table = tabulate(result['answers'])
    by_hand = table.pop(HAND_WRITTEN)[NEW]
    known, new = 100 * mean(table, KNOWN), 100 * mean(table, NEW)
    on_answers, on_texts = result['perplexity']['answers'], result['perplexity']['texts']
    return f"""
- Questions: {len(examine()) - by_hand.asked} of {len(table)} kinds, none of them seen in training.
- Right answers, mean over the kinds: {known:.1f} % in known wordings, {new:.1f} % in new wordings.
- Questions in free wording, written by hand and not by the generator: {by_hand.right} of
  {by_hand.asked} answered right.
- Perplexity per token: {on_answers:.3f} on the right answers to these questions, {on_texts:.2f} on
  200 generated texts (small stories and plain sentences).
- Size of the file: {size:,} bytes.

{as_markdown(table)}

"""


if __name__ == '__main__':
    main(*map(Path, sys.argv[1:4]))
