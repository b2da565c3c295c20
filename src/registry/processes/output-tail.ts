import type { GivenVariables } from './environment.ts';

const keptBytes = 65_536;
const shownLength = 4096;

/** The end of what a process wrote for people to read: 64 KiB kept, the last 4,096 characters shown. */
export class OutputTail {
  readonly #secrets: readonly string[];
  #chunks: Buffer[] = [];
  #size = 0;

  /** Values of these variables are masked wherever they stand in the text. */
  constructor(given: GivenVariables = {}) {
    this.#secrets = listSecrets(given);
  }

  add(chunk: Buffer): void {
    this.#chunks.push(chunk);
    this.#size += chunk.length;
    // Joined now and then only: a process that writes single bytes must not cost a copy for each.
    if (this.#size > 2 * keptBytes || this.#chunks.length > 1024) this.#compact();
  }

  /** Masked before it is cut, so that no part of a secret remains at the edge. */
  text(): string {
    this.#compact();
    let text = this.#chunks[0]?.toString('utf8') ?? '';
    for (const secret of this.#secrets) text = text.replaceAll(secret, '***');
    return text.slice(-shownLength).trim();
  }

  #compact(): void {
    // A copy: a view would keep the whole of what was read.
    const kept = Buffer.from(Buffer.concat(this.#chunks).subarray(-keptBytes));
    this.#chunks = [kept];
    this.#size = kept.length;
  }
}

const looksSecret = /key|token|secret|pass|credential|auth|cookie|session|dsn|private/i;

/** Longest first, as one may hold another. Short plain words such as `true` hide nothing. */
function listSecrets(given: GivenVariables): string[] {
  return Object.entries(given)
    .filter(([name, value]) => value.length >= (looksSecret.test(name) ? 3 : 8))
    .flatMap(([, value]) => [value, ...value.split('\n').filter((line) => line.length >= 8)])
    .toSorted((one, other) => other.length - one.length);
}
