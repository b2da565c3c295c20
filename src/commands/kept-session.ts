import { readFile, rm } from 'node:fs/promises';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { writeSecretFile } from '../auth/keys/secret-file.ts';

/** The tokens of a login, and when the access token ends. */
export interface SessionTokens {
  readonly accessToken: string;
  readonly refreshToken: string;
  /** Unix milliseconds. */
  readonly expiresAt: number;
}

interface Whose {
  readonly url: string;
  readonly username: string;
}

/**
 * The session that commands share, `command-session.json` (0600) beside `admin.json`: without it each
 * command would be a login, and ten logins in a quarter of an hour are all that auth allows.
 */
export class KeptSession {
  readonly #folder: string;
  readonly #whose: Whose;

  constructor(folder: string, whose: Whose) {
    this.#folder = folder;
    this.#whose = whose;
  }

  /** False where there is no data folder: a command makes none. */
  get isPossible(): boolean {
    return existsSync(this.#folder);
  }

  /** What an earlier command kept for this user at this address. */
  async read(): Promise<SessionTokens | undefined> {
    const text = await readFile(this.#path, 'utf8').catch(() => '');
    const kept = parse(text);
    const { url, username } = this.#whose;
    if (kept.url !== url || kept.username !== username) return undefined;
    const { accessToken, refreshToken, expiresAt } = kept;
    if (!accessToken || !refreshToken || !expiresAt) return undefined;
    return { accessToken, refreshToken, expiresAt };
  }

  /** Answers whether the tokens are kept; a folder that cannot be written to is no failure. */
  async write(tokens: SessionTokens): Promise<boolean> {
    if (!this.isPossible) return false;
    const text = JSON.stringify({ ...this.#whose, ...tokens });
    return writeSecretFile(this.#path, `${text}\n`).then(
      () => true,
      () => false,
    );
  }

  async forget(): Promise<void> {
    await rm(this.#path, { force: true }).catch(() => {});
  }

  get #path(): string {
    return join(this.#folder, 'command-session.json');
  }
}

function parse(text: string): Partial<Whose & SessionTokens> {
  try {
    // Written by `write` alone; a foreign content fails the comparison of whose it is.
    return (JSON.parse(text) as Partial<Whose & SessionTokens> | null) ?? {};
  } catch {
    return {};
  }
}
