import { Fault } from '../errors.ts';
import type { ExchangeApiKey } from './authenticator.ts';

export interface ServiceTokenOptions {
  /** Reads the service's own API key; called again when a key was refused. */
  readonly readApiKey: () => Promise<string>;
  readonly exchange: ExchangeApiKey;
}

const lifeShare = 0.8;

/** The access token of a service's own identity, got when first needed and again before it expires. */
export class ServiceToken {
  readonly #options: ServiceTokenOptions;
  #token: { readonly value: string; readonly renewAt: number } | undefined;
  #renewing: Promise<string> | undefined;

  constructor(options: ServiceTokenOptions) {
    this.#options = options;
  }

  /** A token that is good for at least another tenth of its life. */
  get = (): Promise<string> => {
    if (this.#token && Date.now() < this.#token.renewAt) return Promise.resolve(this.#token.value);
    this.#renewing ??= this.#renew().finally(() => {
      this.#renewing = undefined;
    });
    return this.#renewing;
  };

  /** Drops the token, so that the next call gets a new one: for a token that a service refused. */
  forget(): void {
    this.#token = undefined;
  }

  async #renew(): Promise<string> {
    try {
      const apiKey = await this.#options.readApiKey();
      const { accessToken, expiresIn } = await this.#options.exchange(apiKey);
      this.#token = { value: accessToken, renewAt: Date.now() + expiresIn * 1000 * lifeShare };
      return accessToken;
    } catch (cause) {
      throw new Fault('unavailable', 'this service could not log in to the suite', { cause });
    }
  }
}
