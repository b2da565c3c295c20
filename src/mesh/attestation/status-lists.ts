import { createHash } from 'node:crypto';
import { promisify } from 'node:util';
import { deflate } from 'node:zlib';
import { statusListPath, statusListSize } from './addresses.ts';
import { readRevokedIndexes, type AttestationSql } from './attestation-store.ts';
import type { Issuer } from './attestation-token.ts';
import type { LiveAttestations } from './live-attestations.ts';

/** A status list as it is sent. */
export interface StatusList {
  readonly token: string;
  /** Changes with the bits, and when they are signed anew. */
  readonly etag: string;
}

export interface StatusListsOptions {
  readonly sql: AttestationSql;
  readonly issuer: Issuer;
  readonly live: Pick<LiveAttestations, 'newestIndex'>;
  readonly now: () => number;
}

interface Kept extends StatusList {
  readonly bits: Buffer;
  readonly signedAtMs: number;
  readonly readAtMs: number;
}

/** How long a reader may keep a list; a revocation shows no later than that. */
export const statusListMaxAgeSeconds = 30;

const lifeMs = 3_600_000;
const resignMs = lifeMs / 2;
const keptMax = 64;
const compress = promisify(deflate);

/**
 * The signed bitmaps of revoked attestations (IETF Token Status List: one bit each, the lowest
 * first, compressed by zlib), for those who verify without asking.
 */
export class StatusLists {
  readonly #options: StatusListsOptions;
  readonly #kept = new Map<number, Kept>();
  readonly #reading = new Map<number, Promise<Kept>>();

  constructor(options: StatusListsOptions) {
    this.#options = options;
  }

  /** Undefined for a list in which nothing has a place. */
  async find(number: number): Promise<StatusList | undefined> {
    if (number * statusListSize > this.#options.live.newestIndex) return undefined;
    const kept = this.#kept.get(number);
    const ageMs = this.#options.now() - (kept?.readAtMs ?? 0);
    if (kept && ageMs < statusListMaxAgeSeconds * 1_000) return kept;
    return this.#readOnce(number);
  }

  /** Has the list of a place be read again: it was revoked. */
  drop(index: number): void {
    const number = Math.floor(index / statusListSize);
    const kept = this.#kept.get(number);
    if (kept) this.#kept.set(number, { ...kept, readAtMs: 0 });
    // What is being read may be older than the revocation.
    this.#reading.delete(number);
  }

  /** Has all lists be signed anew: the key that signed them may hold no longer. */
  dropAll(): void {
    this.#kept.clear();
    this.#reading.clear();
  }

  #readOnce(number: number): Promise<Kept> {
    const known = this.#reading.get(number);
    if (known) return known;
    const isCurrent = () => this.#reading.get(number) === reading;
    const reading = this.#read(number)
      .then((list) => {
        if (isCurrent()) this.#keep(number, list);
        return list;
      })
      .finally(() => {
        if (isCurrent()) this.#reading.delete(number);
      });
    this.#reading.set(number, reading);
    return reading;
  }

  async #read(number: number): Promise<Kept> {
    const { sql, now } = this.#options;
    const from = number * statusListSize;
    const bits = Buffer.alloc(statusListSize / 8);
    const readAtMs = now();
    for (const index of await readRevokedIndexes(sql, from, from + statusListSize)) {
      const place = index - from;
      bits[place >> 3] = (bits[place >> 3] ?? 0) | (1 << (place & 7));
    }
    const kept = this.#kept.get(number);
    const isFresh = kept !== undefined && now() - kept.signedAtMs < resignMs;
    if (isFresh && kept.bits.equals(bits)) return { ...kept, readAtMs };
    return this.#sign(number, { bits, readAtMs });
  }

  async #sign(number: number, { bits, readAtMs }: Pick<Kept, 'bits' | 'readAtMs'>): Promise<Kept> {
    const { issuer, now } = this.#options;
    const signedAtMs = now();
    const lst = (await compress(bits)).toString('base64url');
    const { token } = issuer.signer.key.sign('statuslist+jwt', {
      iss: issuer.url,
      sub: `${issuer.url}${statusListPath}/${number}`,
      iat: Math.floor(signedAtMs / 1_000),
      exp: Math.floor((signedAtMs + lifeMs) / 1_000),
      ttl: statusListMaxAgeSeconds,
      status_list: { bits: 1, lst },
    });
    const etag = `"${createHash('sha256').update(token).digest('base64url')}"`;
    return { token, etag, bits, signedAtMs, readAtMs };
  }

  #keep(number: number, list: Kept): void {
    this.#kept.delete(number);
    this.#kept.set(number, list);
    const [oldest] = this.#kept.keys();
    if (this.#kept.size > keptMax && oldest !== undefined) this.#kept.delete(oldest);
  }
}
