import { readFile } from 'node:fs/promises';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { writeSecretFile } from '../../kit/secrets/secret-file.ts';

/** The tokens of a login, and when the access token ends. */
export interface SessionTokens {
  readonly accessToken: string;
  readonly refreshToken: string;
  /** Unix milliseconds. */
  readonly expiresAt: number;
}

/** The login that a session comes from. */
interface Whose {
  readonly url: string;
  readonly username: string;
  readonly password: string;
}

/** What stands in the file. */
interface Kept extends SessionTokens {
  readonly url: string;
  readonly username: string;
  /** Argon2id, so that the file opens no login elsewhere. */
  readonly passwordHash: string;
}

// Argon2id at the first choice of OWASP's password storage cheat sheet.
const cost = { algorithm: 2, memoryCost: 19_456, timeCost: 2, parallelism: 1 } as const;

/**
 * The session that commands share, `command-session.json` (0600) beside `admin.json`: without it each
 * command would be a login, and ten logins in a quarter of an hour are all that auth allows.
 */
export class KeptSession {
  readonly #folder: string;
  readonly #whose: Whose;
  #passwordHash: string | undefined;

  constructor(folder: string, whose: Whose) {
    this.#folder = folder;
    this.#whose = whose;
  }

  /** False where there is no data folder: a command makes none. */
  get isPossible(): boolean {
    return existsSync(this.#folder);
  }

  /** What an earlier command kept for this user at this address, if it had the same password. */
  async read(): Promise<SessionTokens | undefined> {
    const text = await readFile(this.#path, 'utf8').catch(() => '');
    const kept = parse(text);
    const { url, username } = this.#whose;
    if (kept.url !== url || kept.username !== username) return undefined;
    const { accessToken, refreshToken, expiresAt, passwordHash } = kept;
    if (!accessToken || !refreshToken || !expiresAt || !passwordHash) return undefined;
    if (!(await this.#isOpenedBy(passwordHash))) return undefined;
    this.#passwordHash = passwordHash;
    return { accessToken, refreshToken, expiresAt };
  }

  /** Answers whether the tokens are kept; a folder that cannot be written to is no failure. */
  async write(tokens: SessionTokens): Promise<boolean> {
    if (!this.isPossible) return false;
    this.#passwordHash ??= await this.#hash();
    const { url, username } = this.#whose;
    const kept: Kept = { url, username, passwordHash: this.#passwordHash, ...tokens };
    const text = JSON.stringify(kept);
    return writeSecretFile(this.#path, `${text}\n`).then(
      () => true,
      () => false,
    );
  }

  async #hash(): Promise<string> {
    const { hash } = await import('@node-rs/argon2');
    return hash(this.#whose.password, cost);
  }

  /** False also for a hash that none is. */
  async #isOpenedBy(passwordHash: string): Promise<boolean> {
    const { verify } = await import('@node-rs/argon2');
    return verify(passwordHash, this.#whose.password).catch(() => false);
  }

  get #path(): string {
    return join(this.#folder, 'command-session.json');
  }
}

function parse(text: string): Partial<Kept> {
  try {
    // Written by `write` alone; a foreign content fails the comparison of whose it is.
    return (JSON.parse(text) as Partial<Kept> | null) ?? {};
  } catch {
    return {};
  }
}
