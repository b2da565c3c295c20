export interface Token {
  readonly kind: 'word' | 'string' | 'number' | 'sign';
  /** Of a string what it says, without quotes. */
  readonly text: string;
}

const pattern =
  /\s+|(?<word>[A-Za-z_$][\w$]*)|(?<number>\d+(?:\.\d+)?)|(?<quoted>"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*')|(?<sign>\|\||\?\?|\?\.|[.()[\],])/y;

/** The words and signs of an expression; undefined where there are others than paths need. */
export function readTokens(text: string): readonly Token[] | undefined {
  const tokens: Token[] = [];
  pattern.lastIndex = 0;
  while (pattern.lastIndex < text.length) {
    const groups = pattern.exec(text)?.groups;
    if (!groups) return undefined;
    const { word, number, quoted, sign } = groups;
    if (word !== undefined) tokens.push({ kind: 'word', text: word });
    if (number !== undefined) tokens.push({ kind: 'number', text: number });
    if (quoted !== undefined) tokens.push({ kind: 'string', text: unquote(quoted) });
    if (sign !== undefined) tokens.push({ kind: 'sign', text: sign });
  }
  return tokens;
}

const escapes: Readonly<Record<string, string>> = { n: '\n', t: '\t', r: '\r' };

function unquote(quoted: string): string {
  return quoted
    .slice(1, -1)
    .replaceAll(/\\(.)/g, (_, character: string) => escapes[character] ?? character);
}
