/** A text with its quotes, a comment to the end of the line, or what lies between those. */
const token = /"(?:[^"\\]|\\[^])*"|\/\/[^\r\n]*|[^"/,\]}\s]+|\s+|[,\]}/]/y;

/**
 * The value of JSON in which there may be comments, a comma behind the last entry and a mark of the byte
 * order, as in the files of editors. Throws as `JSON.parse` does.
 */
export function parseCommentedJson(
  text: string,
  revive?: (name: string, value: unknown) => unknown,
): unknown {
  try {
    return JSON.parse(text, revive);
  } catch (error) {
    const strict = toStrict(text);
    if (strict === undefined) throw error;
    return JSON.parse(strict, revive);
  }
}

/** Undefined for what has no end. */
function toStrict(text: string): string | undefined {
  const pieces: string[] = [];
  let last = '';
  /** The place of a comma behind an entry, as long as nothing comes behind it. */
  let comma: number | undefined;
  let at = text.startsWith('\uFEFF') ? 1 : 0;
  while (at < text.length) {
    const piece = pieceAt(text, at);
    if (piece === undefined) return undefined;
    at += piece.length;
    const isBlank = /^(?:\s|\/[/*])/.test(piece);
    pieces.push(isBlank ? ' ' : piece);
    if (isBlank) continue;
    if (comma !== undefined && (piece === ']' || piece === '}')) pieces[comma] = '';
    comma = piece === ',' && !/[[{]$/.test(last) ? pieces.length - 1 : undefined;
    last = piece;
  }
  return pieces.join('');
}

function pieceAt(text: string, at: number): string | undefined {
  if (text.startsWith('/*', at)) {
    const end = text.indexOf('*/', at + 2);
    return end < 0 ? undefined : text.slice(at, end + 2);
  }
  token.lastIndex = at;
  return token.exec(text)?.[0];
}
