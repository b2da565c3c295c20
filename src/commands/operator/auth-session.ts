import { authContract } from '../../auth/contract.ts';
import { createClient, type Client } from '../../kit/client.ts';
import { Fault } from '../../kit/errors.ts';
import { Tracer } from '../../kit/trace/trace.ts';
import type { PasswordCredential } from './credentials.ts';
import { KeptSession, type SessionTokens } from './kept-session.ts';
import { askUnseen, canAsk } from './secret-input.ts';

export type AuthClient = Client<typeof authContract>;

/** What becomes of a session that is kept for no other command. */
export interface SessionUse {
  /** True where what the command makes ends with the session. */
  readonly leavesSession?: boolean;
}

export interface AuthSessionOptions extends SessionUse {
  readonly url: string;
  readonly credential: PasswordCredential;
  /** One-time code or recovery code, for an account with a second factor. */
  readonly otp: string | undefined;
  readonly dataFolder: string;
}

const clientId = 'ennead';
const marginMs = 30_000;

/** A login by password: kept for the next command where it can be, else ended with this one or left. */
export class AuthSession implements AsyncDisposable {
  readonly #options: AuthSessionOptions;
  readonly #client: AuthClient;
  readonly #kept: KeptSession;
  #tokens: Promise<SessionTokens> | undefined;
  #isRefused = false;
  #isKept = true;

  constructor(options: AuthSessionOptions) {
    const { url, credential, dataFolder } = options;
    this.#options = options;
    this.#client = anonymousClient(url);
    const { username, password } = credential;
    this.#kept = new KeptSession(dataFolder, { url, username, password });
  }

  /** The access token: the kept one, its successor, or that of a new login. */
  token = async (): Promise<string> => {
    this.#tokens ??= this.#open();
    return (await this.#tokens).accessToken;
  };

  /** Makes the next `token` a new login. */
  forget = (): void => {
    this.#tokens = undefined;
    this.#isRefused = true;
  };

  async [Symbol.asyncDispose](): Promise<void> {
    const tokens = await this.#tokens?.catch(() => undefined);
    if (!tokens || this.#isKept || this.#options.leavesSession) return;
    const token = async () => tokens.accessToken;
    const client = createClient(authContract, { baseUrl: this.#options.url, tracer, token });
    await client.revoke({ body: { token: tokens.refreshToken } }).catch(() => {});
  }

  async #open(): Promise<SessionTokens> {
    const kept = this.#isRefused ? undefined : await this.#kept.read();
    if (kept && kept.expiresAt - marginMs > Date.now()) return kept;
    const tokens = (kept && (await this.#refresh(kept))) ?? (await this.#logIn());
    this.#isKept = await this.#kept.write(tokens);
    return tokens;
  }

  /** Undefined when the kept session has ended. */
  async #refresh({ refreshToken }: SessionTokens): Promise<SessionTokens | undefined> {
    const body = { refresh_token: refreshToken, grant_type: 'refresh_token' };
    try {
      return tokensOf(await this.#client.refresh({ body }));
    } catch (error) {
      if (error instanceof Fault && error.code === 'unavailable') throw error;
      return undefined;
    }
  }

  async #logIn(): Promise<SessionTokens> {
    const { otp } = this.#options;
    try {
      return await this.#logInWith(otp);
    } catch (error) {
      if (!needsCode(error) || otp !== undefined) throw error;
      if (canAsk()) return this.#logInWith(await askUnseen('one-time code'));
      throw new Fault('unauthenticated', 'this account has a second factor: give --otp', {
        cause: error,
      });
    }
  }

  async #logInWith(otp: string | undefined): Promise<SessionTokens> {
    const { username, password } = this.#options.credential;
    const login = { username, password, client_id: clientId, grant_type: 'password' };
    return tokensOf(await this.#client.login({ body: { ...login, ...(otp ? { otp } : {}) } }));
  }
}

/** A client of auth that names nobody. */
export function anonymousClient(url: string): AuthClient {
  return createClient(authContract, { baseUrl: url, tracer });
}

/** What an operator types belongs to no trace. */
export const tracer = new Tracer(() => {});

function tokensOf(answer: {
  readonly access_token: string;
  readonly refresh_token: string;
  readonly expires_in: number;
}): SessionTokens {
  return {
    accessToken: answer.access_token,
    refreshToken: answer.refresh_token,
    expiresAt: Date.now() + answer.expires_in * 1000,
  };
}

function needsCode(error: unknown): boolean {
  return error instanceof Fault && error.reason === 'mfa_required';
}
