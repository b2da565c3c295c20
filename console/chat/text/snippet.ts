/** A part of what was found; the part that matched is marked. */
export interface SnippetPart {
  readonly text: string;
  readonly isMatch: boolean;
}

const entities: Readonly<Record<string, string>> = {
  amp: '&',
  lt: '<',
  gt: '>',
  quot: '"',
  apos: "'",
};

/** Reads a snippet of the search, which is HTML with nothing but `<mark>` in it, as plain parts. */
export function readSnippet(html: string): readonly SnippetPart[] {
  return html
    .split(/(<mark>.*?<\/mark>)/s)
    .filter((part) => part !== '')
    .map((part) => {
      const [, matched] = /^<mark>(.*)<\/mark>$/s.exec(part) ?? [];
      return { text: unescape(matched ?? part), isMatch: matched !== undefined };
    });
}

function unescape(text: string): string {
  return text.replaceAll(/&(?:#(\d{1,7})|#x([\da-f]{1,6})|(\w+));/gi, (...found) => {
    const [whole, decimal, hex, name] = found as (string | undefined)[];
    if (name !== undefined) return entities[name] ?? whole ?? '';
    const code = decimal === undefined ? Number.parseInt(hex ?? '', 16) : Number(decimal);
    return code <= 0x10_ff_ff ? String.fromCodePoint(code) : (whole ?? '');
  });
}
