/** Marks, and what the normal form makes marks of. */
const mark = String.raw`[\p{M}\uff9e\uff9f]`;
const longRuns = new RegExp(`(${mark}{30})(?=${mark})`, 'gu');
/** Common characters that keep their length; told apart because texts are full of them. */
const steady = String.raw`\0-\x7f\xc0-\u0131\u0410-\u044f\u2013\u2014\u2018-\u201d\u3000-\u3002\u3041-\u3096\u30a1-\u30fa\u4e00-\u9fff\uac00-\ud7a3\uff01-\uff5e`;
/** What the normal form may lengthen or shorten: characters with their marks, syllables from their parts. */
const changeable = new RegExp(
  String.raw`[\u1100-\u1112][\u1161-\u1175][\u11a8-\u11c2]?|\P{M}${mark}+|[^${steady}]`,
  'gu',
);
/** Between marks it keeps them from being put into order. */
const joiner = '\u034f';

/**
 * A text in the form in which texts and queries are compared: NFKC of Unicode, so that it does not matter how a
 * character was written; chat.normal_form of the database has it too. Runs of marks end after 30, as in Unicode's
 * Stream-Safe Text Format (UAX #15), for putting them into order takes the square of their length.
 */
export function toNormalForm(text: string): string {
  return text.replaceAll(longRuns, `$1${joiner}`).normalize('NFKC');
}

/** A stretch that the normal form makes longer or shorter, in both. */
interface Change {
  readonly rawStart: number;
  readonly rawEnd: number;
  readonly start: number;
  readonly end: number;
}

/** The normal form of a text, and where its places are in the text. */
export class NormalText {
  readonly text: string;
  readonly #changes: readonly Change[];

  constructor(raw: string) {
    const isNormal = toNormalForm(raw) === raw;
    const { text, changes } = isNormal ? { text: raw, changes: [] } : change(raw);
    this.text = text;
    this.#changes = changes;
  }

  /** The stretch of the text that has become a stretch of the normal form. */
  rawOf({ start, end }: { readonly start: number; readonly end: number }) {
    return { start: this.#rawPlace(start, 'rawStart'), end: this.#rawPlace(end, 'rawEnd') };
  }

  #rawPlace(place: number, edge: 'rawStart' | 'rawEnd'): number {
    const last = this.#lastBefore(place);
    if (!last) return place;
    return place < last.end ? last[edge] : last.rawEnd + place - last.end;
  }

  /** The last change that begins before a place. */
  #lastBefore(place: number): Change | undefined {
    let from = 0;
    let to = this.#changes.length;
    while (from < to) {
      const middle = Math.floor((from + to) / 2);
      if ((this.#changes[middle]?.start ?? 0) < place) from = middle + 1;
      else to = middle;
    }
    return this.#changes[from - 1];
  }
}

function change(raw: string): { readonly text: string; readonly changes: readonly Change[] } {
  const changes: Change[] = [];
  let text = '';
  let at = 0;
  for (const { 0: part, index } of raw.matchAll(changeable)) {
    const normal = toNormalForm(part);
    if (normal.length === part.length) continue;
    text += toNormalForm(raw.slice(at, index));
    const start = text.length;
    text += normal;
    at = index + part.length;
    changes.push({ rawStart: index, rawEnd: at, start, end: text.length });
  }
  return { text: text + toNormalForm(raw.slice(at)), changes };
}
