import type {
  OAuthClientInformationContext,
  OAuthClientMetadata,
  OAuthClientProvider,
  OAuthDiscoveryState,
  StoredOAuthClientInformation,
  StoredOAuthTokens,
} from '@modelcontextprotocol/client';
import { Fault } from '../../kit/errors.ts';

/** All that is known of the registry's standing at one server; kept sealed. */
export interface Standing {
  /** The address for which all of it was issued: it is shown to no other (RFC 8707). */
  readonly resource: string;
  /** `client_credentials` needs nobody who logs in. */
  readonly grant: 'authorization_code' | 'client_credentials';
  readonly scope?: string | undefined;
  client?: StoredOAuthClientInformation | undefined;
  discovery?: OAuthDiscoveryState | undefined;
  tokens?: StoredOAuthTokens | undefined;
  expiresAtMs?: number | undefined;
  verifier?: string | undefined;
}

/** What a login that begins has besides its standing. */
export interface LoginBeginning {
  readonly state: string;
  /** The client that was registered before, for a standing whose metadata has been read; nothing where there is none that is good. */
  readonly findClient: (standing: Standing) => Promise<StoredOAuthClientInformation | undefined>;
  /** Told of the client that had to be registered, whatever comes of the login then. */
  readonly keepClient: (standing: Standing) => Promise<void>;
}

/** What the SDK asks and tells while it authorizes; it changes the standing that it was given. */
export class ServerLogin implements OAuthClientProvider {
  readonly standing: Standing;
  readonly #callbackUrl: string;
  readonly #beginning: LoginBeginning | undefined;
  /** Where somebody has to log in, once the SDK has said so. */
  authorizationUrl: URL | undefined;
  /** Whether the authorization server said that the refresh token, or its client, is no good. */
  isRefused = false;

  constructor(standing: Standing, callbackUrl: string, beginning?: LoginBeginning) {
    this.standing = standing;
    this.#callbackUrl = callbackUrl;
    this.#beginning = beginning;
  }

  get redirectUrl(): string | undefined {
    return this.#isInteractive ? this.#callbackUrl : undefined;
  }

  get clientMetadata(): OAuthClientMetadata {
    const { scope, client } = this.standing;
    // Nobody else vouches for who uses its own credentials (RFC 6749 section 4.4).
    const isConfidential = client?.client_secret !== undefined || !this.#isInteractive;
    return {
      client_name: 'Ennead registry',
      redirect_uris: [this.#callbackUrl],
      grant_types: this.#isInteractive
        ? ['authorization_code', 'refresh_token']
        : ['client_credentials'],
      response_types: this.#isInteractive ? ['code'] : [],
      token_endpoint_auth_method: isConfidential ? 'client_secret_basic' : 'none',
      ...(scope === undefined ? {} : { scope }),
    };
  }

  get #isInteractive(): boolean {
    return this.standing.grant === 'authorization_code';
  }

  state(): string {
    return this.#beginning?.state ?? '';
  }

  /**
   * Throws `invalid` (`issuer_mismatch`) when another authorization server is to be asked than knows the
   * client, and `upstream` (`registration_unsupported`) where there is none and none can be registered.
   */
  async clientInformation(
    context?: OAuthClientInformationContext,
  ): Promise<StoredOAuthClientInformation | undefined> {
    this.standing.client ??= await this.#beginning?.findClient(this.standing);
    const { client, discovery } = this.standing;
    const metadata = discovery?.authorizationServerMetadata;
    if (!client && metadata && !metadata.registration_endpoint) {
      throw withoutRegistration(metadata.issuer, this.#callbackUrl);
    }
    // The SDK would register another client there instead.
    if (client?.issuer && context && !isSameIssuer(client.issuer, context.issuer)) {
      throw otherIssuer(context.issuer);
    }
    return client;
  }

  async saveClientInformation(client: StoredOAuthClientInformation): Promise<void> {
    // One that was given comes here too, for the issuer that it is noted with.
    const isRegistered = this.standing.client === undefined;
    this.standing.client = client;
    if (isRegistered) await this.#beginning?.keepClient(this.standing);
  }

  tokens(): StoredOAuthTokens | undefined {
    return this.standing.tokens;
  }

  saveTokens(tokens: StoredOAuthTokens): void {
    // A server that keeps the old refresh token does not send it again (RFC 6749 section 6).
    const refresh_token = tokens.refresh_token ?? this.standing.tokens?.refresh_token;
    this.standing.tokens = { ...tokens, ...(refresh_token ? { refresh_token } : {}) };
    const { expires_in } = tokens;
    this.standing.expiresAtMs =
      expires_in === undefined ? undefined : Date.now() + expires_in * 1000;
    this.standing.verifier = undefined;
  }

  redirectToAuthorization(authorizationUrl: URL): void {
    this.authorizationUrl = authorizationUrl;
  }

  saveCodeVerifier(verifier: string): void {
    this.standing.verifier = verifier;
  }

  codeVerifier(): string {
    return this.standing.verifier ?? '';
  }

  /**
   * Throws `upstream` before anything is begun there: `resource_mismatch` where the tokens would be for
   * another server, `pkce_unsupported` where nobody could log in safely.
   */
  async saveDiscoveryState(discovery: OAuthDiscoveryState): Promise<void> {
    const { checkResourceAllowed } = await import('@modelcontextprotocol/client');
    const requestedResource = this.standing.resource;
    const configuredResource = discovery.resourceMetadata?.resource ?? requestedResource;
    if (!checkResourceAllowed({ requestedResource, configuredResource })) {
      throw otherResource(configuredResource);
    }
    const methods = discovery.authorizationServerMetadata?.code_challenge_methods_supported;
    // MCP 2025-11-25, authorization: who does not say so does not support it.
    if (this.#isInteractive && !methods?.includes('S256')) throw withoutPkce();
    this.standing.discovery = discovery;
  }

  discoveryState(): OAuthDiscoveryState | undefined {
    return this.standing.discovery;
  }

  invalidateCredentials(what: 'all' | 'client' | 'tokens' | 'verifier' | 'discovery'): void {
    const { standing } = this;
    if (what === 'all' || what === 'tokens') {
      this.isRefused = standing.tokens?.refresh_token !== undefined;
      standing.tokens = undefined;
    }
    if (what === 'all' || what === 'verifier') standing.verifier = undefined;
    if (what === 'all' || what === 'discovery') standing.discovery = undefined;
  }

  prepareTokenRequest(scope?: string): URLSearchParams | undefined {
    if (this.#isInteractive) return undefined;
    const parameters = new URLSearchParams({ grant_type: 'client_credentials' });
    if (scope) parameters.set('scope', scope);
    return parameters;
  }
}

const earlyMsMax = 30_000;

/** Whether another token is to be asked for before its time is over: for the last 30 s, or a quarter of a shorter life. */
export function isEnding({ tokens, expiresAtMs }: Standing): boolean {
  if (expiresAtMs === undefined) return false;
  const { expires_in: seconds = Number.POSITIVE_INFINITY } = tokens ?? {};
  return expiresAtMs - Date.now() <= Math.min(earlyMsMax, (seconds * 1_000) / 4);
}

/** Whether the server refuses its token by now, as far as can be told here. */
export function hasEnded({ expiresAtMs }: Standing): boolean {
  return expiresAtMs !== undefined && expiresAtMs <= Date.now();
}

/** Whether another token can be asked for without anybody who logs in. */
export function isRenewable({ grant, tokens }: Standing): boolean {
  return grant === 'client_credentials' || tokens?.refresh_token !== undefined;
}

/** The same where only somebody who logs in can renew it. */
export function withoutRenewal({ tokens, ...standing }: Standing): Standing {
  return tokens ? { ...standing, tokens: { ...tokens, refresh_token: undefined } } : standing;
}

/** One slash at the end says nothing: metadata and addresses differ in it (RFC 8414 section 3.3). */
function isSameIssuer(one: string, other: string): boolean {
  return one.replace(/\/$/, '') === other.replace(/\/$/, '');
}

function otherIssuer(issuer: string): Fault {
  const message = `the server's authorization server is ${issuer}: this client belongs to another`;
  return new Fault('invalid', message, { reason: 'issuer_mismatch', detail: { issuer } });
}

function otherResource(resource: string): Fault {
  const message = `the server's metadata is for ${resource}, which is another address than it is called at`;
  return new Fault('upstream', message, { reason: 'resource_mismatch', detail: { resource } });
}

function withoutRegistration(issuer: string, redirectUri: string): Fault {
  const message = 'the authorization server registers no clients: name one of its own as clientId';
  const detail = { issuer, redirectUri };
  return new Fault('upstream', message, { reason: 'registration_unsupported', detail });
}

function withoutPkce(): Fault {
  const message = 'the authorization server does not say that it supports PKCE with S256';
  return new Fault('upstream', message, { reason: 'pkce_unsupported' });
}
