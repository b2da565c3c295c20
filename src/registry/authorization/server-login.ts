import type {
  OAuthClientMetadata,
  OAuthClientProvider,
  OAuthDiscoveryState,
  StoredOAuthClientInformation,
  StoredOAuthTokens,
} from '@modelcontextprotocol/client';

/** All that is known of the registry's standing at one server; kept sealed. */
export interface Standing {
  /** `client_credentials` needs nobody who logs in. */
  readonly grant: 'authorization_code' | 'client_credentials';
  readonly scope?: string | undefined;
  client?: StoredOAuthClientInformation | undefined;
  discovery?: OAuthDiscoveryState | undefined;
  tokens?: StoredOAuthTokens | undefined;
  expiresAtMs?: number | undefined;
  verifier?: string | undefined;
}

/** What the SDK asks and tells while it authorizes; it changes the standing that it was given. */
export class ServerLogin implements OAuthClientProvider {
  readonly standing: Standing;
  readonly #callbackUrl: string;
  readonly #state: string;
  /** Where somebody has to log in, once the SDK has said so. */
  authorizationUrl: URL | undefined;

  constructor(standing: Standing, callbackUrl: string, state = '') {
    this.standing = standing;
    this.#callbackUrl = callbackUrl;
    this.#state = state;
  }

  get redirectUrl(): string | undefined {
    return this.#isInteractive ? this.#callbackUrl : undefined;
  }

  get clientMetadata(): OAuthClientMetadata {
    const { scope, client } = this.standing;
    return {
      client_name: 'Ennead registry',
      redirect_uris: [this.#callbackUrl],
      grant_types: this.#isInteractive
        ? ['authorization_code', 'refresh_token']
        : ['client_credentials'],
      response_types: this.#isInteractive ? ['code'] : [],
      token_endpoint_auth_method: client?.client_secret ? 'client_secret_basic' : 'none',
      ...(scope === undefined ? {} : { scope }),
    };
  }

  get #isInteractive(): boolean {
    return this.standing.grant === 'authorization_code';
  }

  state(): string {
    return this.#state;
  }

  clientInformation(): StoredOAuthClientInformation | undefined {
    return this.standing.client;
  }

  saveClientInformation(client: StoredOAuthClientInformation): void {
    this.standing.client = client;
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

  saveDiscoveryState(discovery: OAuthDiscoveryState): void {
    this.standing.discovery = discovery;
  }

  discoveryState(): OAuthDiscoveryState | undefined {
    return this.standing.discovery;
  }

  invalidateCredentials(what: 'all' | 'client' | 'tokens' | 'verifier' | 'discovery'): void {
    const { standing } = this;
    if (what === 'all' || what === 'tokens') standing.tokens = undefined;
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
