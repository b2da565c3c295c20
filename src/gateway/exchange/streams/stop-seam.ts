interface Opening {
  readonly stop: string;
  /** What of it is still to come. */
  readonly rest: string;
}

/**
 * Looks for a stop sequence that lies across the place where one stream of an answer broke off and
 * another goes on with it: neither provider sees all of it.
 */
export class StopSeam {
  /** The sequence that was found; nothing behind it belongs to the answer. */
  found: string | undefined;
  /** Sequences that the first half ends within. */
  #open: readonly Opening[];
  #held = '';

  constructor(before: string, stops: readonly string[]) {
    this.#open = stops.flatMap((stop) => openingsOf(stop, before));
  }

  /** What of the second half can be shown now that this text came; the rest may be a part of a stop. */
  push(text: string): string {
    if (this.found !== undefined) return '';
    const held = this.#held + text;
    // A sequence that is found first ends the answer, whatever longer one it is the beginning of.
    const hits = this.#open.filter(({ rest }) => held.startsWith(rest));
    const [hit] = hits.toSorted((one, other) => one.rest.length - other.rest.length);
    if (hit) {
      this.found = hit.stop;
      return '';
    }
    this.#open = this.#open.filter(({ rest }) => rest.startsWith(held));
    this.#held = this.#open.length > 0 ? held : '';
    return this.#open.length > 0 ? '' : held;
  }

  /** What was held back, once no more text comes. */
  end(): string {
    const held = this.#held;
    this.#held = '';
    this.#open = [];
    return held;
  }
}

/** Every way in which the text ends within the sequence. */
function openingsOf(stop: string, text: string): Opening[] {
  const openings: Opening[] = [];
  for (let length = 1; length < stop.length; length += 1) {
    if (text.endsWith(stop.slice(0, length))) openings.push({ stop, rest: stop.slice(length) });
  }
  return openings;
}
