/** Characters of a chunk; about 500 tokens. */
export const chunkLengthMax = 2_000;
/** Characters at the end of a chunk that the next one begins with. */
const overlap = 200;

/** Ends of a chunk, the best first. */
const seams = [/\n\s*\n/g, /[.!?]\s/g, /\s/g];

/**
 * A text in parts of at most 2,000 characters that overlap, cut between paragraphs, else sentences,
 * else words; never within a character.
 */
export function cutIntoChunks(text: string): readonly string[] {
  if (text.length <= chunkLengthMax) return [text];
  const chunks: string[] = [];
  let start = 0;
  while (text.length - start > chunkLengthMax) {
    const end = findEnd(text, start);
    chunks.push(text.slice(start, end));
    start = findStart(text, end);
  }
  chunks.push(text.slice(start));
  return chunks.filter((chunk) => chunk.trim() !== '');
}

/** The last seam in the second half of what a chunk may hold. */
function findEnd(text: string, start: number): number {
  const from = start + chunkLengthMax / 2;
  const half = text.slice(from, start + chunkLengthMax);
  for (const seam of seams) {
    const last = [...half.matchAll(seam)].at(-1);
    if (last) return from + last.index + last[0].length;
  }
  return wholeCharacter(text, start + chunkLengthMax);
}

/** After a space within the overlap, so that no chunk begins in the middle of a word. */
function findStart(text: string, end: number): number {
  const space = text.slice(end - overlap, end - 1).search(/\s/);
  return space < 0 ? wholeCharacter(text, end - overlap) : end - overlap + space + 1;
}

function wholeCharacter(text: string, at: number): number {
  const isLowSurrogate = /[\udc00-\udfff]/.test(text.charAt(at));
  return isLowSurrogate ? at - 1 : at;
}
