import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { authContract } from './auth/contract.ts';
import type { Bus } from './kit/bus/bus.ts';
import { createClient } from './kit/client.ts';
import { Fault } from './kit/errors.ts';
import { Authenticator, type ExchangedToken } from './kit/identity/authenticator.ts';
import { createRemoteKeys } from './kit/identity/remote-keys.ts';
import { RevocationFeed } from './kit/identity/revocation-feed.ts';
import { RevocationList, type Revocation } from './kit/identity/revocations.ts';
import { ServiceToken } from './kit/identity/service-token.ts';
import { Verifier } from './kit/identity/verifier.ts';
import type { Log } from './kit/log.ts';
import { Tracer } from './kit/trace.ts';

export interface TrustOptions {
  /** Address of auth, which is also the issuer that tokens name. */
  readonly issuerUrl: string;
  /** True when auth runs in this process or the bus reaches it. */
  readonly isBusShared: boolean;
  readonly bus: Bus;
  readonly serviceKeysFolder: string;
  /** The service whose identity reads the revocations. */
  readonly reader: string;
  readonly log: Log;
}

/** How a process knows whom to believe: auth's keys, its revocations, and its own identities there. */
export class Trust implements AsyncDisposable {
  readonly authenticator: Authenticator;
  readonly revocations = new RevocationList();
  readonly #options: TrustOptions;
  readonly #feed: RevocationFeed;
  readonly #tokens = new Map<string, ServiceToken>();

  constructor(options: TrustOptions) {
    this.#options = options;
    const anonymous = createClient(authContract, {
      baseUrl: options.issuerUrl,
      tracer: new Tracer(() => {}),
    });
    const token = this.serviceToken(options.reader);
    const reader = createClient(authContract, {
      baseUrl: options.issuerUrl,
      tracer: new Tracer(() => {}),
      token: token.get,
      forgetToken: () => token.forget(),
    });
    this.#feed = new RevocationFeed({
      list: this.revocations,
      topic: options.bus.topic<Revocation>('revocations'),
      isBusShared: options.isBusShared,
      fetchPage: (after) => reader.revocations({ query: { after } }),
      log: options.log,
    });
    const verifier = new Verifier({
      issuer: options.issuerUrl,
      keys: createRemoteKeys({ fetchKeys: async () => ({ keys: [...(await anonymous.jwks({})).keys] }) }),
      revocations: this.revocations,
      requireFreshRevocations: this.#feed.requireFresh,
    });
    this.authenticator = new Authenticator(verifier, (apiKey) => this.#exchange(apiKey));
  }

  /** Begins to follow revocations; call it once auth can answer, if auth is in this process. */
  start(): Promise<void> {
    return this.#feed.start();
  }

  /** The token of a service's own identity. */
  serviceToken(service: string): ServiceToken {
    const known = this.#tokens.get(service);
    if (known) return known;
    const token = new ServiceToken({
      readApiKey: () => this.#readServiceKey(service),
      exchange: (apiKey) => this.#exchange(apiKey),
    });
    this.#tokens.set(service, token);
    return token;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#feed[Symbol.asyncDispose]();
  }

  async #readServiceKey(service: string): Promise<string> {
    const path = join(this.#options.serviceKeysFolder, `${service}.key`);
    try {
      return (await readFile(path, 'utf8')).trim();
    } catch (cause) {
      throw new Fault('unavailable', `there is no API key for ${service} at ${path}`, { cause });
    }
  }

  async #exchange(apiKey: string): Promise<ExchangedToken> {
    const anonymous = createClient(authContract, {
      baseUrl: this.#options.issuerUrl,
      tracer: new Tracer(() => {}),
    });
    const body = { api_key: apiKey, client_id: 'ennead' };
    const { access_token, expires_in } = await anonymous.apiKey({ body });
    return { accessToken: access_token, expiresIn: expires_in };
  }
}
