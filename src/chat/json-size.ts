/** Characters of which JSON makes six each at most: an escape of a control or of half a character. */
const charBytesMax = 6;

/**
 * How many bytes of JSON a value makes; more than `bytesMax` where it makes more, which ends the counting,
 * so that a value in which large texts stand again and again costs no more than the bound.
 */
export function jsonBytes(value: unknown, bytesMax: number): number {
  return count(value, bytesMax, writtenBytes);
}

/** Whether a value makes at most so many bytes of JSON for certain; makes none of it, so it is cheap. */
export function isSmallInJson(value: unknown, bytesMax: number): boolean {
  return count(value, bytesMax, possibleBytes) <= bytesMax;
}

function count(root: unknown, bytesMax: number, textBytes: (text: string) => number): number {
  const left: unknown[] = [root];
  let bytes = 0;
  while (left.length > 0 && bytes <= bytesMax) {
    const value = left.pop();
    if (typeof value === 'string') bytes += textBytes(value);
    else if (typeof value !== 'object' || value === null) bytes += String(value).length;
    else if (Array.isArray(value)) {
      bytes += value.length + 1;
      for (const item of value) left.push(item);
    } else {
      bytes += 2;
      for (const [key, item] of Object.entries(value)) {
        bytes += textBytes(key) + 2;
        left.push(item);
      }
    }
  }
  return bytes;
}

function writtenBytes(text: string): number {
  return Buffer.byteLength(JSON.stringify(text));
}

function possibleBytes(text: string): number {
  return text.length * charBytesMax + 2;
}
