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

/**
 * Hashes and verifies passwords, as many at once as there are cores. At most 128 wait for a turn;
 * beyond that callers get `unavailable`, for each hash holds 19 MiB and tens of milliseconds.
 */
export class Passwords {
  readonly #dummyHash: string;
  readonly #waiting: (() => void)[] = [];
  #freeSlots = Math.min(availableParallelism(), slotsMax);

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

  hash(password: string): Promise<string> {
    this.requireLength(password);
    return this.#inTurn(() => hash(password, cost));
  }

  /** Without a hash it does the same work and answers false, so that time tells nothing. */
  async verify(hashed: string | null | undefined, password: string): Promise<boolean> {
    const isMatch = await this.#inTurn(() => verify(hashed ?? this.#dummyHash, password));
    return isMatch && typeof hashed === 'string';
  }

  async #inTurn<T>(work: () => Promise<T>): Promise<T> {
    await this.#enter();
    try {
      return await work();
    } finally {
      this.#leave();
    }
  }

  async #enter(): Promise<void> {
    if (this.#freeSlots > 0) {
      this.#freeSlots -= 1;
      return;
    }
    if (this.#waiting.length >= waitingMax) {
      throw new Fault('unavailable', 'too many logins at once: try again in a moment', {
        reason: 'login_queue_full',
        retryAfter: 2,
      });
    }
    await new Promise<void>((resolve) => void this.#waiting.push(resolve));
  }

  /** The slot goes to whoever waits longest. */
  #leave(): void {
    const next = this.#waiting.shift();
    if (next) next();
    else this.#freeSlots += 1;
  }
}
