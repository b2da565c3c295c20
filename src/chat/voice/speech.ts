/** A list as it is said: `a, b and c`; of a long one the beginning and how many more there are. */
export function sayList(items: readonly string[], total = items.length): string {
  const said = items.slice(0, saidMax);
  const more = total - said.length;
  if (more > 0) return `${said.join(', ')} and ${more} more`;
  if (said.length < 2) return said.join('');
  return `${said.slice(0, -1).join(', ')} and ${said.at(-1)}`;
}

const saidMax = 5;

/** `1 conversation`, `2 conversations`, `no conversations`. */
export function sayCount(count: number, noun: string): string {
  if (count === 1) return `1 ${noun}`;
  return `${count === 0 ? 'no' : count} ${noun}s`;
}

const answerChars = 1_200;
const scannedChars = 20_000;

/** An answer without what is only there to be looked at, cut behind a sentence where it is long. */
export function sayAnswer(markdown: string): string {
  const text = plainText(markdown.slice(0, scannedChars));
  if (text.length <= answerChars) return text;
  const cut = text.slice(0, answerChars);
  const end = Math.max(cut.lastIndexOf('. '), cut.lastIndexOf('! '), cut.lastIndexOf('? '));
  const kept = end > answerChars / 2 ? cut.slice(0, end + 1) : `${cut.replace(/\s?\S*$/, '')}…`;
  return `${kept} There is more in the conversation.`;
}

function plainText(markdown: string): string {
  return markdown
    .replaceAll(/```[^`]*(?:```|$)/g, ' (a piece of code) ')
    .replaceAll(/!?\[([^\][]*)\]\([^()\s]*\)/g, '$1')
    .replaceAll(/^[ \t]*(?:#{1,6} |> |[-*+] )/gm, '')
    .replaceAll(/[*_`]{1,3}(\S)/g, '$1')
    .replaceAll(/(\S)[*_`]{1,3}(?=\W|$)/g, '$1')
    .replaceAll(/\s+/g, ' ')
    .trim();
}

/** A text of somebody else's within a sentence of ours. */
export function quote(text: string): string {
  const line = text.replaceAll(/\s+/g, ' ').trim();
  const [...characters] = line.slice(0, 2 * quotedMax);
  const isLong = characters.length > quotedMax || line.length > 2 * quotedMax;
  return `“${isLong ? `${characters.slice(0, quotedMax - 1).join('')}…` : line}”`;
}

const quotedMax = 80;

const digits = new Map(
  ['zero', 'one', 'two', 'three', 'four', 'five', 'six', 'seven', 'eight', 'nine', 'ten'].map(
    (word, digit) => [word, String(digit)],
  ),
);

/** What two ways to write one name have in common: `assistant one` is `Assistant-1`. */
export function soundOf(name: string): string {
  const words =
    name
      .normalize('NFKC')
      .toLowerCase()
      .match(/\p{L}+|\p{N}+/gu) ?? [];
  return words.map((word) => digits.get(word) ?? word).join('');
}
