import { createHash, timingSafeEqual } from 'node:crypto';
import { Fault } from '../../kit/errors.ts';
import { newSecret } from '../../kit/ids.ts';
import type { AuthConfig } from '../config.ts';
import type { Sealer } from '../../kit/secrets/sealing.ts';
import { toReturnPath } from '../../kit/http/return-path.ts';
import type { OAuthFlowRow, Sql } from '../tables.ts';
import { requireRegistered } from './addresses.ts';
import { findBoundFlow, findFlow, insertFlow, type NewFlow } from './flow-store.ts';
import { defaultProvider, type Provider, type Providers } from './providers.ts';

export interface FlowsOptions {
  readonly sql: Sql;
  readonly sealer: Sealer;
  readonly providers: Providers;
  readonly config: AuthConfig;
  readonly isProduction: boolean;
}

/** What a caller may say about a login that begins. */
export interface AuthorizationRequest {
  readonly provider?: string | undefined;
  readonly redirectUri?: string | undefined;
  readonly state?: string | undefined;
  readonly scope?: string | undefined;
  readonly clientId?: string | undefined;
  /** S256 of the caller's verifier; without it the service keeps a verifier itself. */
  readonly challenge?: string | undefined;
  readonly nonce?: string | undefined;
  readonly returnTo?: string | undefined;
}

/** A login that has begun. */
export interface Authorization {
  /** The provider's address, for the browser. */
  readonly location: string;
  /** Ties the flow to the browser where the service keeps the verifier. */
  readonly cookie: { readonly name: string; readonly value: string } | undefined;
}

/** How a caller shows that a flow is theirs. */
export type FlowProof =
  | { readonly verifier: string }
  | { readonly state: string; readonly binding: string };

/** How long a code may wait to be traded. */
export const flowLifeSeconds = 600;

/** Logins on their way through a provider. */
export class Flows {
  readonly #options: FlowsOptions;

  constructor(options: FlowsOptions) {
    this.#options = options;
  }

  /** Throws `redirect_uri_mismatch` and other refusals of the request; never redirects then. */
  async begin(request: AuthorizationRequest): Promise<Authorization> {
    const provider = await this.#options.providers.read(request.provider ?? defaultProvider);
    const redirectUri = request.redirectUri ?? provider.config.callbackURL;
    this.#requireRegistered(redirectUri, provider);
    const { challenge } = request;
    const { flow, binding } =
      challenge === undefined ? this.#keepVerifier(request) : leaveVerifier(challenge);
    const started = { ...flow, ...commonColumns(request, { provider, redirectUri }) };
    await this.#store(started);
    const cookie = binding === '' ? undefined : { name: cookieName(started.state), value: binding };
    return { location: locationOf(started, provider), cookie };
  }

  /** The flow that the proof names, whatever has become of it. */
  find(proof: FlowProof): Promise<OAuthFlowRow | undefined> {
    const { sql } = this.#options;
    if ('verifier' in proof) return this.#findByVerifier(proof.verifier);
    return findBoundFlow(sql, { state: proof.state, binding: sha256(proof.binding) });
  }

  /** The verifier that the service kept for a flow. */
  openVerifier({ verifier, challenge }: OAuthFlowRow): string {
    if (verifier === null) throw new Error('the caller keeps the verifier of this flow');
    return this.#options.sealer.unseal(verifier, sealContext(challenge)).toString();
  }

  /** A flow whose verifier the service keeps is good only with the cookie. */
  async #findByVerifier(verifier: string): Promise<OAuthFlowRow | undefined> {
    const flow = await findFlow(this.#options.sql, challengeOf(verifier));
    return flow?.binding ? undefined : flow;
  }

  #keepVerifier({ returnTo }: AuthorizationRequest) {
    const verifier = newSecret();
    const binding = newSecret();
    const challenge = challengeOf(verifier);
    const flow = {
      challenge,
      verifier: this.#options.sealer.seal(Buffer.from(verifier), sealContext(challenge)),
      binding: sha256(binding),
      return_to: toReturnPath(returnTo),
    };
    return { flow, binding };
  }

  #requireRegistered(redirectUri: string, { config: { callbackURL } }: Provider): void {
    const { config, isProduction } = this.#options;
    const own = config.redirectUris.split(',').map((uri) => uri.trim());
    requireRegistered(redirectUri, [callbackURL, ...own.filter((uri) => uri !== '')], {
      isProduction,
    });
  }

  /** A reloaded page repeats its request; anything else must bring a challenge of its own. */
  async #store(flow: NewFlow): Promise<void> {
    const { sql } = this.#options;
    if (await insertFlow(sql, flow)) return;
    const known = await findFlow(sql, flow.challenge);
    if (known && isSameFlow(known, flow)) return;
    throw new Fault('invalid', 'this code_challenge was used before', {
      reason: 'invalid_request',
    });
  }
}

/** The name of the cookie that ties a state to a browser; several logins may be under way. */
export function cookieName(state: string): string {
  return `oauth_${sha256(state).toString('hex').slice(0, 16)}`;
}

/** SHA-256, of secrets that are random enough to need nothing slower. */
export function sha256(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}

/** Whether two texts are the same, in a time that does not tell where they differ. */
export function isSameText(a: string, b: string): boolean {
  return timingSafeEqual(sha256(a), sha256(b));
}

function challengeOf(verifier: string): string {
  return sha256(verifier).toString('base64url');
}

/** What a flow holds whose verifier the caller keeps. */
function leaveVerifier(challenge: string) {
  return { flow: { challenge, verifier: null, binding: null, return_to: null }, binding: '' };
}

function sealContext(challenge: string): string {
  return `oauth flow ${challenge}`;
}

function commonColumns(
  request: AuthorizationRequest,
  { provider, redirectUri }: { readonly provider: Provider; readonly redirectUri: string },
) {
  const now = new Date();
  return {
    provider: provider.name,
    redirect_uri: redirectUri,
    redirect_uri_given: request.redirectUri !== undefined,
    state: request.state ?? newSecret(),
    nonce: request.nonce ?? newSecret(),
    nonce_given: request.nonce !== undefined,
    scope: request.scope ?? provider.config.scopes,
    client_id: request.clientId ?? '',
    attempts: 0,
    created_at: now,
    expires_at: new Date(now.getTime() + flowLifeSeconds * 1000),
  };
}

function locationOf(flow: NewFlow, provider: Provider): string {
  const { authorizationURL, clientID, issuer } = provider.config;
  const location = new URL(authorizationURL);
  const query = {
    client_id: clientID,
    redirect_uri: flow.redirect_uri,
    response_type: 'code',
    scope: flow.scope,
    state: flow.state,
    code_challenge: flow.challenge,
    code_challenge_method: 'S256',
    ...(issuer === undefined ? {} : { nonce: flow.nonce }),
  };
  for (const [name, value] of Object.entries(query)) location.searchParams.set(name, value);
  return location.href;
}

/** Whether a stored flow is still open and began with the same request, but for what was made up. */
function isSameFlow(known: OAuthFlowRow, flow: NewFlow): boolean {
  if (known.consumed_at || known.expires_at.getTime() <= Date.now()) return false;
  const fields = ['provider', 'redirect_uri', 'state', 'nonce', 'scope', 'client_id'] as const;
  if (known.redirect_uri_given !== flow.redirect_uri_given) return false;
  return fields.every((field) => known[field] === flow[field]);
}
