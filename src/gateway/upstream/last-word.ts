import type { LastWord } from '../dialects/dialect.ts';

const blankLine = /\r?\n\r?\n|\r\r/g;

/** Whole events up to the stream's last word; what stands behind it is no part of the answer. */
export function upToLastWord(events: Buffer, last: LastWord | undefined): Buffer {
  if (!last || !events.includes(last.text)) return events;
  // Latin 1 has a letter for each byte.
  const text = events.toString('latin1');
  const at = text.search(last.line);
  if (at < 0) return events;
  blankLine.lastIndex = at;
  return blankLine.test(text) ? events.subarray(0, blankLine.lastIndex) : events;
}
