import type { FetchLike } from '@modelcontextprotocol/client';
import type { Subscription, Topic } from '../../kit/bus/bus.ts';
import { Fault } from '../../kit/errors.ts';
import { newSecret } from '../../kit/ids.ts';
import type { Connection } from '../connections/connection.ts';
import type { Credentials } from '../links/link-fetch.ts';
import {
  claimRenewal,
  deleteAuthorization,
  flowSeconds,
  readAuthorization,
  releaseRenewal,
  saveAuthorization,
  saveFlow,
  saveRenewal,
  takeFlow,
} from './authorization-store.ts';
import { isAt, isLeft, moved, requireAddress } from './addresses.ts';
import type {
  AuthorizationRequest,
  AuthorizationsOptions,
  Begun,
  CallbackAnswer,
} from './authorization.ts';
import { readClient } from './given-client.ts';
import {
  askChallenge,
  authorizationServerAway,
  isAuthorizationServerAway,
  isOfSpentToken,
  loginRefused,
  oauthFetch,
  toAuthorizationFault,
  unusable,
  WatchedFetch,
  type OAuthOptions,
} from './oauth-calls.ts';
import { RegisteredClients } from './registered-clients.ts';
import {
  hasEnded,
  isEnding,
  isRenewable,
  ServerLogin,
  withoutRenewal,
  type Standing,
} from './server-login.ts';
import { flowContext, hashOf, StandingBox } from './standing-box.ts';

interface Held {
  readonly standing: Standing;
  readonly version: number;
}

/** A connection at one of the addresses that it has had. */
interface Place {
  readonly connectionId: string;
  readonly resource: string;
}

const topicName = 'registry.authorizations';
const pollMs = 250;
const pollsMax = 60;

/** The registry's access to servers that require authorization, as an OAuth 2.1 client. */
export class Authorizations implements AsyncDisposable {
  readonly #options: AuthorizationsOptions;
  readonly #box: StandingBox;
  readonly #clients: RegisteredClients;
  readonly #topic: Topic<{ readonly connectionId: string }>;
  readonly #held = new Map<string, Promise<Held | undefined>>();
  readonly #renewals = new Map<string, Promise<string | undefined>>();
  #subscription: Subscription | undefined;
  #stopWatching: (() => void) | undefined;

  constructor(options: AuthorizationsOptions) {
    this.#options = options;
    this.#box = new StandingBox(options.sealer);
    this.#clients = new RegisteredClients({
      sql: options.sql,
      box: this.#box,
      fetch: this.#fetch,
      callbackUrl: this.#callbackUrl,
    });
    this.#topic = options.bus.topic(topicName);
  }

  /** From now on it hears what other replicas change. */
  async start(): Promise<void> {
    const { directory, onChanged, log } = this.#options;
    this.#subscription = await this.#topic.subscribe(({ data }) => {
      this.#held.delete(data.connectionId);
      onChanged(data.connectionId);
    });
    this.#stopWatching = directory.onChange(({ before, after }) => {
      if (!isLeft(before, after)) return;
      this.remove(after.id).catch((error: unknown) => {
        log.warn({ err: error, connectionId: after.id }, 'an authorization could not be removed');
      });
    });
  }

  /** Begins a login, or finishes at once where nobody has to log in; every request is guarded. */
  async begin(connectionId: string, request: AuthorizationRequest): Promise<Begun> {
    const resource = requireAddress(connectionId, this.#find(connectionId));
    const { scope, grant = 'authorization_code' } = request;
    const client = readClient(request);
    const state = newSecret();
    const challenge = await askChallenge(this.#options.egress, resource);
    const asked = { ...challenge, ...(scope === undefined ? {} : { scope }) };
    const use = { connectionId, scope: asked.scope };
    const login = new ServerLogin({ resource, grant, scope, client }, this.#callbackUrl, {
      state,
      findClient: (standing) => this.#clients.find(use, standing),
      keepClient: (standing) => this.#clients.keep(use, standing),
    });
    const result = await this.#authorize(login, asked);
    if (result === 'AUTHORIZED') {
      await this.#keep(connectionId, login.standing);
      return { authorized: true };
    }
    const { authorizationUrl } = login;
    if (!authorizationUrl || !/^https?:$/.test(authorizationUrl.protocol)) throw unusable();
    const sealed = this.#box.seal(login.standing, flowContext(state));
    await saveFlow(this.#options.sql, hashOf(state), { connectionId, sealed });
    return { authorizationUrl: authorizationUrl.href };
  }

  /** Finishes a login and answers whose it was; a state works once, for ten minutes. */
  async finish({ state, code, error, iss }: CallbackAnswer): Promise<Connection> {
    const flow = await takeFlow(this.#options.sql, hashOf(state));
    if (!flow) {
      const message = `this login is unknown, was finished, or took over ${flowSeconds / 60} minutes`;
      throw new Fault('invalid', message, { reason: 'unknown_state' });
    }
    const connection = this.#find(flow.connectionId);
    const address = requireAddress(flow.connectionId, connection);
    if (!connection || !code || error !== undefined) throw loginRefused(error);
    const standing = this.#box.unseal(flow.sealed, flowContext(state));
    if (standing.resource !== address) throw moved(connection.id);
    const login = new ServerLogin(standing, this.#callbackUrl);
    const answer = { authorizationCode: code, ...(iss === undefined ? {} : { iss }) };
    const result = await this.#authorize(login, answer);
    if (result !== 'AUTHORIZED') throw unusable();
    await this.#keep(connection.id, login.standing);
    return connection;
  }

  /** False when there was none. */
  async remove(connectionId: string): Promise<boolean> {
    const isRemoved = await deleteAuthorization(this.#options.sql, connectionId);
    if (isRemoved) await this.#tell(connectionId);
    return isRemoved;
  }

  /**
   * The tokens for one server at one address, renewed when they end: those that were issued for
   * another address are never among them. Costs no statement while they last.
   */
  credentialsOf(connectionId: string, resource: string): Credentials {
    const place = { connectionId, resource };
    return {
      token: async () => {
        const held = await this.#readAt(place);
        const token = held?.standing.tokens?.access_token;
        if (!held || !isEnding(held.standing) || !isRenewable(held.standing)) return token;
        try {
          return (await this.#renew(place, token)) ?? token;
        } catch (error) {
          if (isAuthorizationServerAway(error) && !hasEnded(held.standing)) return token;
          throw error;
        }
      },
      renew: (refused) => this.#renew(place, refused),
    };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stopWatching?.();
    await this.#subscription?.close();
  }

  get #fetch(): FetchLike {
    return oauthFetch(this.#options.egress);
  }

  get #callbackUrl(): string {
    return `${this.#options.url}/oauth/callback`;
  }

  #find(connectionId: string): Connection | undefined {
    return this.#options.directory.find(connectionId);
  }

  async #authorize(
    login: ServerLogin,
    options: OAuthOptions = {},
  ): Promise<'AUTHORIZED' | 'REDIRECT'> {
    const { auth } = await import('@modelcontextprotocol/client');
    const { resource: serverUrl } = login.standing;
    try {
      return await auth(login, { fetchFn: this.#fetch, ...options, serverUrl });
    } catch (error) {
      throw toAuthorizationFault(error);
    }
  }

  /** Throws `conflict` (`address_changed`) and keeps nothing when the server has moved meanwhile. */
  async #keep(connectionId: string, standing: Standing): Promise<void> {
    const isThere = () => isAt(this.#find(connectionId), standing.resource);
    const sealed = this.#box.seal(standing, connectionId);
    if (isThere()) await saveAuthorization(this.#options.sql, connectionId, sealed);
    if (!isThere()) {
      // Whoever moved it may have looked for something to remove before this was written.
      await this.remove(connectionId);
      throw moved(connectionId);
    }
    await this.#tell(connectionId);
  }

  async #tell(connectionId: string): Promise<void> {
    this.#held.delete(connectionId);
    await this.#topic.publish({ connectionId });
  }

  #read(connectionId: string): Promise<Held | undefined> {
    const known = this.#held.get(connectionId);
    if (known) return known;
    const reading = this.#load(connectionId);
    this.#held.set(connectionId, reading);
    reading.catch(() => this.#held.delete(connectionId));
    return reading;
  }

  async #load(connectionId: string): Promise<Held | undefined> {
    const row = await readAuthorization(this.#options.sql, connectionId);
    return row && { standing: this.#box.unseal(row.sealed, connectionId), version: row.version };
  }

  async #readAt({ connectionId, resource }: Place): Promise<Held | undefined> {
    const held = await this.#read(connectionId);
    return held?.standing.resource === resource ? held : undefined;
  }

  #renew(place: Place, refused: string | undefined): Promise<string | undefined> {
    const key = `${place.connectionId} ${place.resource}`;
    const running = this.#renewals.get(key);
    if (running) return running;
    const renewal = this.#renewOnce(place, refused).finally(() => {
      this.#renewals.delete(key);
    });
    this.#renewals.set(key, renewal);
    return renewal;
  }

  /**
   * The replicas renew one after the other: a refresh token may work only once. Throws `upstream`
   * (`authorization_server_away`) when it could not be asked for another token.
   */
  async #renewOnce(place: Place, refused: string | undefined): Promise<string | undefined> {
    const { connectionId } = place;
    for (let count = 0; count < pollsMax; count++) {
      this.#held.delete(connectionId);
      const held = await this.#readAt(place);
      const token = held?.standing.tokens?.access_token;
      if (!held || (token !== undefined && token !== refused)) return token;
      const { version, standing } = held;
      if (!isRenewable(standing)) return undefined;
      if (await claimRenewal(this.#options.sql, connectionId, version)) {
        return this.#refresh(connectionId, held);
      }
      await new Promise((resolve) => setTimeout(resolve, pollMs));
    }
    return undefined;
  }

  async #refresh(connectionId: string, { standing, version }: Held): Promise<string | undefined> {
    const { sql, log } = this.#options;
    const asked = new WatchedFetch(this.#fetch);
    const login = new ServerLogin({ ...standing }, this.#callbackUrl);
    const keep = async (kept: Standing) => {
      const sealed = this.#box.seal(kept, connectionId);
      const isKept = await saveRenewal(sql, connectionId, { sealed, version });
      this.#held.delete(connectionId);
      return isKept;
    };
    try {
      const result = await this.#authorize(login, { fetchFn: asked.fetch });
      if (result !== 'AUTHORIZED') throw unusable();
      return (await keep(login.standing)) ? login.standing.tokens?.access_token : undefined;
    } catch (error) {
      log.warn({ err: error, connectionId }, 'an authorization could not be renewed');
      // Its refresh token was refused for good: who shows it again is taken for a thief.
      const isRefused = login.isRefused || isOfSpentToken(error);
      if (isRefused) await keep(withoutRenewal(standing));
      else await releaseRenewal(sql, connectionId);
      if (asked.isUnanswered) throw authorizationServerAway(error);
      return undefined;
    }
  }
}
