import type { JSONWebKeySet, JWTVerifyGetKey } from 'jose';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parseApiKey } from './auth/api-keys/api-key-text.ts';
import { authContract, revocationTopic } from './auth/contract.ts';
import type { Bus } from './kit/bus/bus.ts';
import { createClient, type Client } from './kit/client.ts';
import { Fault } from './kit/errors.ts';
import { Authenticator, type ExchangedToken } from './kit/identity/authenticator.ts';
import { createRemoteKeys } from './kit/identity/remote-keys.ts';
import { RevocationFeed } from './kit/identity/revocation-feed.ts';
import { RevocationList, revocationsStaleMs, type Revocation } from './kit/identity/revocations.ts';
import { ServiceToken } from './kit/identity/service-token.ts';
import { Verifier } from './kit/identity/verifier.ts';
import type { Log } from './kit/log.ts';
import { Tracer } from './kit/trace/trace.ts';

export interface TrustOptions {
  /** Address of auth, which is also the issuer that tokens name. */
  readonly issuerUrl: string;
  /** True when auth runs in this process: then it serves its keys, and reads the revocations into the list. */
  readonly isIssuerHere: boolean;
  readonly bus: Bus;
  readonly serviceKeysFolder: string;
  /** The service whose identity reads the revocations. */
  readonly reader: string;
  readonly log: Log;
}

/** How a process knows whom to believe: auth's keys, its revocations, and its own identities there. */
export class Trust implements AsyncDisposable {
  readonly authenticator: Authenticator;
  readonly revocations = new RevocationList({ staleMs: revocationsStaleMs });
  readonly #options: TrustOptions;
  readonly #issuer: Client<typeof authContract>;
  readonly #feed: RevocationFeed | undefined;
  readonly #tokens = new Map<string, ServiceToken>();
  #findKey: JWTVerifyGetKey;

  constructor(options: TrustOptions) {
    this.#options = options;
    this.#issuer = createClient(authContract, {
      baseUrl: options.issuerUrl,
      tracer: silentTracer(),
    });
    this.#feed = options.isIssuerHere ? undefined : this.#createFeed();
    this.#findKey = createRemoteKeys({ fetchKeys: () => this.#fetchKeys() });
    const verifier = new Verifier({
      issuer: options.issuerUrl,
      keys: (header, token) => this.#findKey(header, token),
      revocations: this.revocations,
    });
    this.authenticator = new Authenticator(
      verifier,
      (apiKey) => this.#exchange(apiKey),
      (text) => parseApiKey(text) !== undefined,
    );
  }

  /** Begins to follow revocations, where auth is elsewhere. */
  async start(): Promise<void> {
    await this.#feed?.start();
  }

  /**
   * From now on believes the keys that auth holds here, and no longer asks at its address, which may be
   * one that only others reach.
   */
  serveKeys(find: JWTVerifyGetKey): void {
    this.#findKey = find;
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

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#feed?.[Symbol.asyncDispose]();
  }

  #createFeed(): RevocationFeed {
    const { issuerUrl, bus, reader, log } = this.#options;
    const token = this.serviceToken(reader);
    const client = createClient(authContract, {
      baseUrl: issuerUrl,
      tracer: silentTracer(),
      token: token.get,
      forgetToken: () => token.forget(),
    });
    return new RevocationFeed({
      list: this.revocations,
      topic: bus.topic<Revocation>(revocationTopic),
      fetchPage: (after) => client.revocations({ query: { after } }),
      log,
    });
  }

  async #fetchKeys(): Promise<JSONWebKeySet> {
    const { keys } = await this.#issuer.jwks({});
    return { keys: [...keys] };
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
    const body = { api_key: apiKey, client_id: 'ennead' };
    const { access_token, expires_in } = await this.#issuer.apiKey({ body });
    return { accessToken: access_token, expiresIn: expires_in };
  }
}

/** Logging in and reading keys belongs to no trace. */
function silentTracer(): Tracer {
  return new Tracer(() => {});
}
