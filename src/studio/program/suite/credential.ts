import { Fault } from '../../../kit/errors.ts';
import { ServiceToken } from '../../../kit/identity/service-token.ts';

export interface CredentialOptions {
  /** Of auth. */
  readonly url: string;
  readonly apiKey: string;
}

/** The agent's own tokens, got from auth for its API key and kept for most of their life. */
export class Credential {
  readonly #options: CredentialOptions;
  readonly #token: ServiceToken;
  readonly #refused = new AbortController();
  #subject: string | undefined;

  constructor(options: CredentialOptions) {
    this.#options = options;
    this.#token = new ServiceToken({
      readApiKey: () => Promise.resolve(options.apiKey),
      exchange: (apiKey) => this.#exchange(apiKey),
    });
  }

  get apiKey(): string {
    return this.#options.apiKey;
  }

  /** Aborted with the Fault once auth refuses the key for good: nothing can be done any more. */
  get refused(): AbortSignal {
    return this.#refused.signal;
  }

  /** A token that is good now; Fault `unavailable` when auth is away or refuses. */
  readonly token = async (): Promise<string> => {
    try {
      return await this.#token.get();
    } catch (error) {
      throw error instanceof Fault && error.cause instanceof Fault ? error.cause : error;
    }
  };

  readonly forget = (): void => this.#token.forget();

  /** Who the agent is at auth; undefined before the first token. */
  get subject(): string | undefined {
    return this.#subject;
  }

  async #exchange(apiKey: string) {
    const response = await this.#ask(apiKey);
    if (!response.ok) {
      const fault = new Fault(
        Fault.codeOf(response.status),
        `auth refused the agent’s API key (HTTP status ${response.status})`,
      );
      if (fault.code === 'unauthenticated') this.#refused.abort(fault);
      throw fault;
    }
    const answer = (await response.json()) as {
      readonly access_token: string;
      readonly expires_in: number;
      readonly service?: string;
    };
    this.#subject = answer.service;
    return { accessToken: answer.access_token, expiresIn: answer.expires_in };
  }

  async #ask(apiKey: string): Promise<Response> {
    const url = `${this.#options.url.replace(/\/+$/, '')}/api/v1/auth/api-key`;
    try {
      return await fetch(url, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ api_key: apiKey, client_id: 'studio-agent' }),
        signal: AbortSignal.timeout(10_000),
      });
    } catch (cause) {
      throw new Fault('unavailable', `auth cannot be reached at ${this.#options.url}`, { cause });
    }
  }
}
