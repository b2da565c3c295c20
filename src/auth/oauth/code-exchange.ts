import { Fault } from '../../kit/errors.ts';
import { suiteAudience } from '../../kit/identity/claims.ts';
import type { AuditLog } from '../audit/audit.ts';
import type { AuditEvent, Origin } from '../audit/audit-event.ts';
import type { Sessions, TokenPair } from '../sessions/sessions.ts';
import type { OAuthFlowRow, Sql, UserRow } from '../tables.ts';
import type { TokenMint } from '../tokens/tokens.ts';
import { redirectMismatch } from './addresses.ts';
import type { FederatedUsers } from './federated-users.ts';
import {
  codeAttemptsMax,
  consumeFlow,
  finishFlow,
  markReplayed,
  releaseFlow,
} from './flow-store.ts';
import { isSameText, sha256, type FlowProof, type Flows } from './flows.ts';
import { readGroupRoles, rolesOf, type GroupRole } from './group-roles.ts';
import { authorityOf } from './identity-keys.ts';
import type { Profile } from './profile.ts';
import { accessDenied, refusedCode, type ProviderClient } from './provider-client.ts';
import { issuerOf, type Provider, type Providers } from './providers.ts';

export interface CodeExchangeOptions {
  readonly sql: Sql;
  readonly flows: Flows;
  readonly providers: Providers;
  readonly client: ProviderClient;
  readonly users: FederatedUsers;
  readonly sessions: Sessions;
  readonly mint: TokenMint;
  readonly audit: AuditLog;
}

/** What a caller brings back from the provider. */
export interface CodeRequest {
  readonly code: string | undefined;
  readonly proof: FlowProof | undefined;
  readonly redirectUri: string | undefined;
  readonly clientId: string | undefined;
  /** Of the callback; checked in addition to a cookie or verifier. */
  readonly state: string | undefined;
  /** Of the callback (RFC 9207). */
  readonly issuer: string | undefined;
  /** What the provider answered in place of a code. */
  readonly error: string | undefined;
  readonly origin: Origin;
}

/** A login through a provider that went well. */
export interface FederatedSession {
  readonly pair: TokenPair;
  readonly user: UserRow;
  readonly profile: Profile;
  readonly groups: readonly GroupRole[];
  /** Only where the login began with the scope `openid`. */
  readonly idToken: string | undefined;
  /** Only where the service kept the verifier. */
  readonly returnTo: string | undefined;
  /** The state of the flow, which names its cookie. */
  readonly state: string;
}

/** Trades authorization codes for sessions (RFC 6749, section 4.1.3; RFC 7636, section 4.5). */
export class CodeExchange {
  readonly #options: CodeExchangeOptions;

  constructor(options: CodeExchangeOptions) {
    this.#options = options;
  }

  /**
   * Opens a session. A flow and a code are good once, within ten minutes. A code that comes again
   * ends the session that it gave (RFC 6749, section 4.1.2); while its first exchange is still under
   * way there is none yet, and it is refused alone: a browser that asks twice at once stays logged in.
   *
   * Nothing here changes a flow before the caller has shown its secret: the verifier, or the state
   * with its cookie. Else whoever read a code or a state in a log could end the login of another
   * (RFC 9700, section 4.5). A code that the provider does not take gives the flow back, so that a
   * code slipped into a browser costs its user no login; five codes may be tried, and no more.
   */
  async exchange(request: CodeRequest): Promise<FederatedSession> {
    const attempt: Attempt = { provider: 'oauth', askedAt: new Date() };
    try {
      return await this.#exchange(request, attempt);
    } catch (error) {
      await this.#options.audit.record({
        eventType: 'login_failure',
        userId: attempt.userId,
        clientId: request.clientId,
        origin: request.origin,
        provider: attempt.provider,
        facts: { reason: reasonOf(error) },
      });
      throw error;
    }
  }

  async #exchange(request: CodeRequest, attempt: Attempt): Promise<FederatedSession> {
    const claim = await this.#claim(request, attempt);
    const { flow } = claim;
    const provider = await this.#options.providers.read(flow.provider);
    const { tokens, profile } = await this.#trade(claim, { request, provider });
    const login = { request, flow, provider, profile };
    const groups = await readGroupRoles(this.#options.sql, profile.groups);
    const user = await this.#options.users.admit({
      provider: provider.name,
      issuer: authorityOf(provider.config),
      profile,
      tokens,
      roles: rolesOf(groups),
      clientId: clientOf(login),
      origin: request.origin,
    });
    attempt.userId = user.id;
    const pair = await this.#open(user, login);
    const idToken = await this.#signId(user, login);
    const returnTo = flow.return_to ?? undefined;
    return { pair, user, profile, groups, idToken, returnTo, state: flow.state };
  }

  /** Trades the code at the provider; the flow is given back when that can be tried again. */
  async #trade(
    { code, codeHash, flow }: Claim,
    { request, provider }: { readonly request: CodeRequest; readonly provider: Provider },
  ) {
    const { sql, client, flows } = this.#options;
    try {
      return await client.login(provider, {
        code,
        redirectUri: flow.redirect_uri,
        verifier: verifierOf(request, flow, flows),
        nonce: flow.nonce,
        scope: flow.scope,
      });
    } catch (error) {
      const { challenge } = flow;
      if (isUntraded(error)) await releaseFlow(sql, { challenge, codeHash });
      throw error;
    }
  }

  /** Takes the flow for this code, after all that can be checked before. */
  async #claim(request: CodeRequest, attempt: Attempt): Promise<Claim> {
    const { sql, flows, providers } = this.#options;
    const { code, proof } = request;
    const flow = proof && (await flows.find(proof));
    if (flow) attempt.provider = flow.provider;
    if (request.error !== undefined) throw errorOf(request.error);
    if (code === undefined) throw badRequest('code is missing');
    const codeHash = sha256(code);
    if (!flow) throw refusedProof(request);
    const again = { request, flow, askedAt: attempt.askedAt };
    if (flow.consumed_at) return this.#refuseAgain(codeHash, again);
    if (flow.expires_at.getTime() <= Date.now()) throw refusedCode('code_expired');
    if (flow.attempts >= codeAttemptsMax) throw refusedCode('too_many_codes');
    requireSameRequest(request, flow, await providers.read(flow.provider));
    const { challenge } = flow;
    const isOurs = await consumeFlow(sql, { challenge, codeHash, at: new Date() });
    if (!isOurs) return this.#refuseAgain(codeHash, again);
    return { code, codeHash, flow };
  }

  /**
   * Ends what the flow's own code gave when it comes a second time. What did not exist yet when the
   * request came had not been answered then.
   */
  async #refuseAgain(
    codeHash: Buffer,
    { request, flow, askedAt }: RepeatedExchange,
  ): Promise<never> {
    const { challenge, provider, session_id: sessionId } = flow;
    const replay = { challenge, codeHash, at: askedAt };
    if (sessionId && (await markReplayed(this.#options.sql, replay))) {
      await this.#options.sessions.end(sessionId, {
        eventType: 'code_replayed',
        clientId: request.clientId,
        origin: request.origin,
        provider,
        facts: { sessionId },
      });
    }
    throw refusedCode('code_used');
  }

  async #open(user: UserRow, login: Login): Promise<TokenPair> {
    const { sql, sessions, mint } = this.#options;
    const { request, flow, provider } = login;
    const clientId = clientOf(login);
    const event: AuditEvent = {
      eventType: 'login_success',
      userId: user.id,
      clientId,
      origin: request.origin,
      provider: provider.name,
      facts: { username: user.username },
    };
    const pair = user.disabled ? undefined : await sessions.open(user, { clientId, event });
    if (!pair) throw accessDenied();
    const { sessionId } = await mint.readRefresh(pair.refreshToken);
    await finishFlow(sql, { challenge: flow.challenge, sessionId });
    return pair;
  }

  /** OpenID Connect Core, section 3.1.3.3. */
  async #signId({ id: subject }: UserRow, login: Login): Promise<string | undefined> {
    const { scope, nonce, nonce_given: isNonceGiven } = login.flow;
    // With that audience it would look like an access token to whoever checks no more than that.
    const clientId = clientOf(login);
    const isMistakable = clientId === suiteAudience;
    if (isMistakable || !scope.split(' ').includes('openid')) return undefined;
    const { mint } = this.#options;
    const stated = { subject, clientId, nonce: isNonceGiven ? nonce : undefined };
    return mint.signId(stated);
  }
}

/** A flow that is taken for one code. */
interface Claim {
  readonly code: string;
  readonly codeHash: Buffer;
  readonly flow: OAuthFlowRow;
}

/** An exchange of a code that another one has taken. */
interface RepeatedExchange {
  readonly request: CodeRequest;
  readonly flow: OAuthFlowRow;
  readonly askedAt: Date;
}

/** What the audit log is to say of an attempt, as far as it came. */
interface Attempt {
  readonly askedAt: Date;
  provider: string;
  userId?: string;
}

interface Login {
  readonly request: CodeRequest;
  readonly flow: OAuthFlowRow;
  readonly provider: Provider;
  readonly profile: Profile;
}

function requireSameRequest(request: CodeRequest, flow: OAuthFlowRow, provider: Provider): void {
  const { redirectUri, state, issuer, clientId } = request;
  // It may be left out only where it was at the start (RFC 6749, section 4.1.3).
  const isLeftOut = redirectUri === undefined && !flow.redirect_uri_given;
  if (!isLeftOut && redirectUri !== flow.redirect_uri) throw redirectMismatch();
  if (state !== undefined && !isSameText(state, flow.state)) throw refusedCode('state_mismatch');
  if (issuer !== undefined && issuer !== issuerOf(provider)) throw refusedCode('issuer_mismatch');
  const isOther = flow.client_id !== '' && clientId !== undefined && clientId !== flow.client_id;
  if (isOther) throw refusedCode('client_mismatch');
}

function verifierOf({ proof }: CodeRequest, flow: OAuthFlowRow, flows: Flows): string {
  return proof && 'verifier' in proof ? proof.verifier : flows.openVerifier(flow);
}

function clientOf({ request, flow }: Pick<Login, 'request' | 'flow'>): string {
  return request.clientId ?? (flow.client_id || 'oauth');
}

/** True when the provider did not take the code, or could not be asked: the user's own may still come. */
function isUntraded(error: unknown): boolean {
  if (!(error instanceof Fault)) return false;
  return error.reason === 'provider_error' || error.detail['reason'] === 'provider_refused';
}

function refusedProof({ proof, state }: CodeRequest): Fault {
  if (proof && 'verifier' in proof) return refusedCode('verifier_mismatch');
  const isNone = !proof && state === undefined;
  return isNone ? badRequest('code_verifier or state is missing') : refusedCode('state_mismatch');
}

/** The refusal of a request that lacks what RFC 6749, section 4.1.3, asks for. */
function badRequest(flaw: string): Fault {
  return new Fault('invalid', flaw, { reason: 'invalid_request' });
}

function errorOf(error: string): Error {
  return error === 'access_denied' ? accessDenied() : refusedCode('provider_error');
}

function reasonOf(error: unknown): string {
  const { reason, detail } = (error ?? {}) as { reason?: string; detail?: { reason?: unknown } };
  const finer = detail?.reason;
  return typeof finer === 'string' ? finer : (reason ?? 'internal');
}
