/** How a text is written within another one; both work on the parts between placeholders. */
export interface Writing {
  readonly read: (written: string) => string;
  readonly write: (text: string) => string;
}

/** Texts within texts beyond which nobody looks for credentials: what lies deeper is left out. */
export const nestedTextsMax = 8;

/** What stands between the quotes of a string of JSON. */
export const jsonString: Writing = {
  read: (written) =>
    written.replaceAll(
      /\\(?:["\\/bfnrt]|u[\dA-Fa-f]{4})/g,
      (escape) => JSON.parse(`"${escape}"`) as string,
    ),
  write: (text) => JSON.stringify(text).slice(1, -1),
};

/** The value of a form's field, or of an address's parameter. */
export const formValue: Writing = {
  read: (written) => written.replaceAll('+', ' ').replaceAll(/(?:%[\dA-Fa-f]{2})+/g, decoded),
  write: encodeURIComponent,
};

/** What is filled in where it stands, as a pattern: n8n's and our placeholders, and jq's. */
export const filledIn = String.raw`\$?\{\{[^{}]{0,1000}\}\}|\$\{[^{}]{0,1000}\}`;

/** A text within another one after a change; written as it was unless the change made a difference. */
export function changeWithin(
  written: string,
  { read, write }: Writing,
  change: (text: string) => string,
): string {
  const text = eachPart(written, read);
  const changed = change(text);
  return changed === text ? written : eachPart(changed, write);
}

/**
 * The strings of JSON in a text (`held` is what lies between their quotes), its marks and numbers. One
 * that never ends goes to the end of the text, so that reading takes time in proportion to the text.
 */
export const jsonToken = new RegExp(
  [
    `(?<filled>${filledIn})`,
    String.raw`"(?<held>(?:${filledIn}|(?!${filledIn})(?:\\.|[^"\\]))*)(?:"|\\?$)`,
    String.raw`(?<mark>[{}[\],])`,
    String.raw`(?<number>(?<![\w.])-?\d[\d.eE+-]*)`,
  ].join('|'),
  'gs',
);

const parting = new RegExp(`(${filledIn})`);

/** Every second part is a placeholder, which stays. */
function eachPart(text: string, change: (part: string) => string): string {
  const parts = text.split(parting);
  return parts.map((part, at) => (at % 2 === 0 ? change(part) : part)).join('');
}

function decoded(octets: string): string {
  try {
    return decodeURIComponent(octets);
  } catch {
    return octets;
  }
}
