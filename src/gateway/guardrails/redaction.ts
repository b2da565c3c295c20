import { findPersonalData, personalDataKinds, type PersonalDataKind } from './personal-data.ts';
import { replaceSpans, spansAcross } from './spans.ts';

const names = personalDataKinds.map((kind) => kind.toUpperCase());

/** Every form that a placeholder can have. */
export const placeholderPattern = new RegExp(`\\[(?:${names.join('|')})_\\d{1,6}\\]`, 'g');

/** What ends a text and can still become a placeholder. */
export const openPlaceholderPattern = new RegExp(`\\[(?:${names.map(startOf).join('|')})?$`);

/** The name and its number as far as they have come: `E(?:M(?:…)?)?` for EMAIL. */
function startOf(name: string): string {
  return name.split('').reduceRight((rest, letter) => `${letter}(?:${rest})?`, '_\\d{0,6}');
}

const numbersMax = 999_999;

/**
 * The placeholders of one request: the same value gets the same one, numbered in the order in which
 * they come, so that a conversation that goes on keeps those it had.
 */
export class Redaction {
  readonly #kinds: readonly PersonalDataKind[];
  readonly #placeholders = new Map<string, string>();
  readonly #originals = new Map<string, string>();
  readonly #taken = new Set<string>();
  readonly #counts = new Map<PersonalDataKind, number>();

  constructor(kinds: readonly PersonalDataKind[]) {
    this.#kinds = kinds;
  }

  /** Whether anything was replaced. */
  get isEmpty(): boolean {
    return this.#originals.size === 0;
  }

  /** Leaves alone what looks like a placeholder in a text; for all texts before the first `redact`. */
  avoid(text: string): void {
    for (const [found] of text.matchAll(placeholderPattern)) this.#taken.add(found);
  }

  /** The text with placeholders for personal data. */
  redact(text: string): string {
    return this.#kinds.reduce((rest, kind) => {
      const spans = findPersonalData(rest, kind);
      return replaceSpans([rest], spans, this.#replacing(kind)).join('');
    }, text);
  }

  /** Texts that a provider reads as one, with placeholders for what lies across the end of one of them. */
  redactAcross(texts: readonly string[]): readonly string[] {
    return this.#kinds.reduce((rest, kind) => {
      const spans = spansAcross(rest, findPersonalData(rest.join(''), kind));
      return replaceSpans(rest, spans, this.#replacing(kind));
    }, texts);
  }

  /** The text with the data in place of its placeholders; unknown ones stay. */
  restore(text: string): string {
    if (!text.includes('[')) return text;
    return text.replaceAll(placeholderPattern, (found) => this.#originals.get(found) ?? found);
  }

  #replacing(kind: PersonalDataKind): (found: string) => string {
    return (found) => this.#placeholderOf(kind, found);
  }

  #placeholderOf(kind: PersonalDataKind, original: string): string {
    const known = this.#placeholders.get(original);
    if (known) return known;
    const placeholder = this.#nextPlaceholder(kind);
    this.#placeholders.set(original, placeholder);
    this.#originals.set(placeholder, original);
    return placeholder;
  }

  #nextPlaceholder(kind: PersonalDataKind): string {
    let number = this.#counts.get(kind) ?? 0;
    let placeholder: string;
    do {
      number += 1;
      placeholder = `[${kind.toUpperCase()}_${number}]`;
    } while (this.#taken.has(placeholder) && number < numbersMax);
    this.#counts.set(kind, number);
    return placeholder;
  }
}
