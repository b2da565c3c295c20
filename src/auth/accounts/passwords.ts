import { hash, verify } from '@node-rs/argon2';
import { availableParallelism } from 'node:os';
import { Fault } from '../../kit/errors.ts';
import { newSecret } from '../../kit/ids.ts';

// Argon2id at the first choice of OWASP's password storage cheat sheet.
const cost = { algorithm: 2, memoryCost: 19_456, timeCost: 2, parallelism: 1 } as const;
const passwordBytesMax = 1024;
const waitingMax = 128;
// One of the four threads that hashing shares with signing, files and names stays free.
const slotsMax = 3;

// Each hash empties the processor's caches: what follows is cheaper where it follows several.
const crowd = 8;
const groupMax = 4;

interface Waiter {
  readonly start: () => void;
}

/**
 * Hashes and verifies passwords, as many at once as there are cores but one: what checks tokens is
 * never starved. At most 128 wait for a turn; beyond that callers get `unavailable`, for each hash
 * holds 19 MiB and tens of milliseconds.
 */
export class Passwords {
  readonly #dummyHash: string;
  readonly #waiting = new Set<Waiter>();
  /** Done, and handed out together. */
  readonly #held: (() => void)[] = [];
  #freeSlots = hashesAtOnce();

  private constructor(dummyHash: string) {
    this.#dummyHash = dummyHash;
  }

  static async create(): Promise<Passwords> {
    return new Passwords(await hash(newSecret(), cost));
  }

  /** Throws `invalid` for a password over 1,024 bytes: nothing may be hashed that large. */
  requireLength(password: string): void {
    if (Buffer.byteLength(password) <= passwordBytesMax) return;
    throw new Fault('invalid', `a password has at most ${passwordBytesMax} bytes`, {
      reason: 'password_too_long',
    });
  }

  /** Of the password in NFC, as one keyboard sends what another composes (RFC 8265, section 4.2). */
  hash(password: string): Promise<string> {
    this.requireLength(password);
    return this.#inTurn(() => hash(password.normalize('NFC'), cost));
  }

  /**
   * Without a hash it does the same work and answers false, so that time tells nothing. Whoever
   * aborts while waiting gives up the place and gets the signal's reason.
   */
  async verify(
    hashed: string | null | undefined,
    password: string,
    signal?: AbortSignal,
  ): Promise<boolean> {
    const work = () => isMatch(hashed ?? this.#dummyHash, password);
    return (await this.#inTurn(work, signal)) && typeof hashed === 'string';
  }

  async #inTurn<T>(work: () => Promise<T>, signal?: AbortSignal): Promise<T> {
    await this.#enter(signal);
    try {
      return await work();
    } finally {
      this.#leave();
      await this.#gather();
    }
  }

  /** While a crowd waits, the next hash is never far: then results are handed out a few at a time. */
  #gather(): Promise<void> {
    const released = new Promise<void>((resolve) => this.#held.push(resolve));
    if (this.#waiting.size < crowd || this.#held.length >= groupMax) {
      for (const release of this.#held.splice(0)) release();
    }
    return released;
  }

  async #enter(signal: AbortSignal | undefined): Promise<void> {
    if (this.#freeSlots > 0) {
      this.#freeSlots -= 1;
      return;
    }
    if (this.#waiting.size >= waitingMax) {
      throw new Fault('unavailable', 'too many logins at once: try again in a moment', {
        reason: 'login_queue_full',
        retryAfter: 2,
      });
    }
    await this.#wait(signal);
  }

  #wait(signal: AbortSignal | undefined): Promise<void> {
    signal?.throwIfAborted();
    return new Promise((resolve, reject) => {
      const giveUp = () => {
        if (this.#waiting.delete(waiter)) reject(signal?.reason as Error);
      };
      const start = () => {
        signal?.removeEventListener('abort', giveUp);
        resolve();
      };
      const waiter: Waiter = { start };
      this.#waiting.add(waiter);
      signal?.addEventListener('abort', giveUp, { once: true });
    });
  }

  /** The slot goes to whoever waits longest. */
  #leave(): void {
    const [next] = this.#waiting;
    if (!next) {
      this.#freeSlots += 1;
      return;
    }
    this.#waiting.delete(next);
    next.start();
  }
}

/** Whether the hash is of the password in NFC, or as it came: older hashes are of that. */
async function isMatch(hashed: string, password: string): Promise<boolean> {
  const composed = password.normalize('NFC');
  if (await verify(hashed, composed)) return true;
  return composed !== password && verify(hashed, password);
}

/** How many hashes one process computes at the same time. */
export function hashesAtOnce(): number {
  return Math.max(1, Math.min(availableParallelism() - 1, slotsMax));
}

/** Whether a hash costs an attacker less than one made today; false for what is no Argon2 hash. */
export function isWeakHash(hashed: string): boolean {
  const parts = /^\$argon2(i|d|id)\$(?:v=(\d+)\$)?m=(\d+),t=(\d+),p=\d+\$/.exec(hashed);
  if (!parts) return false;
  const [, kind, version, memory, time] = parts;
  if (kind !== 'id' || version !== '19') return true;
  return Number(memory) < cost.memoryCost || Number(time) < cost.timeCost;
}
