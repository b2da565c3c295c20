/** False for JSON text that holds half a surrogate pair or U+0000, which no database stores. */
export function isStorable(json: string): boolean {
  return !unstorable.test(json);
}

/** The same JSON text with U+FFFD in the place of what no database stores. */
export function toStorable(json: string): string {
  return isStorable(json) ? json : json.replaceAll(everyUnstorable, String.raw`$1\ufffd`);
}

/** A text with U+FFFD in the place of what no database stores. */
export function toStorableText(text: string): string {
  return unstorableText.test(text) ? text.replaceAll(everyUnstorableText, '\ufffd') : text;
}

// In patterns of code points a surrogate is one without its other half.
const unstorableText = /[\0\p{Surrogate}]/u;
const everyUnstorableText = /[\0\p{Surrogate}]/gu;

// `JSON.stringify` writes whole pairs as they are and only halves as escapes, in lower case.
const unstorable = /(?<!\\)(?:\\\\)*\\u(?:d[89a-f][0-9a-f]{2}|0000)/;
const everyUnstorable = /(?<!\\)((?:\\\\)*)\\u(?:d[89a-f][0-9a-f]{2}|0000)/g;
