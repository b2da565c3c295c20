const lengthMax = 60;

/** What a message calls a conversation: its first line, whole words, at most 60 characters. */
export function titleOf(content: string): string | undefined {
  const [line = ''] = content.trimStart().split(/[\r\n]/, 1);
  const words = line.replaceAll(/\s+/g, ' ').trim();
  const characters = Array.from(words.slice(0, lengthMax * 4));
  if (characters.length === 0) return undefined;
  if (characters.length <= lengthMax) return words;
  const start = characters.slice(0, lengthMax + 1).join('');
  const end = start.lastIndexOf(' ');
  // A single long word, or a script without blanks, is cut where it is full.
  return end > 0 ? start.slice(0, end) : characters.slice(0, lengthMax).join('');
}
