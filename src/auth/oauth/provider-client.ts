import {
  allowInsecureRequests,
  authorizationCodeGrant,
  ClientError,
  ClientSecretBasic,
  ClientSecretPost,
  Configuration,
  customFetch,
  enableNonRepudiationChecks,
  refreshTokenGrant,
  ResponseBodyError,
  skipStateCheck,
  type ServerMetadata,
} from 'openid-client';
import type { Egress } from '../../kit/egress/egress.ts';
import { Fault } from '../../kit/errors.ts';
import {
  createProviderFetch,
  idpLoginRequired,
  isLoginRequired,
  providerError,
  unreachable,
} from './provider-fetch.ts';
import { readProfile, type Profile } from './profile.ts';
import { issuerOf, type Provider } from './providers.ts';
import type { ProviderTokens } from './provider-tokens.ts';

export interface CodeTrade {
  readonly code: string;
  readonly redirectUri: string;
  readonly verifier: string;
  readonly nonce: string;
  readonly scope: string;
}

/** What is sent for the next tokens, and whose they are to be. */
export interface TokenRenewal {
  readonly refreshToken: string;
  readonly scope: string;
  readonly subject: string;
}

/** A century: what some providers give for ever is beyond what a date can hold. */
const lifeSecondsMax = 100 * 365 * 86_400;

const unknownKeyCode = 'OAUTH_KEY_SELECTION_FAILED';

/** Speaks OAuth with identity providers (RFC 6749, RFC 7636, OpenID Connect Core). */
export class ProviderClient {
  readonly #egress: Egress;
  /** The newest of each provider: it keeps the provider's keys. */
  readonly #configurations = new Map<string, { version: string; configuration: Configuration }>();

  constructor(egress: Egress) {
    this.#egress = egress;
  }

  /**
   * Trades a code for tokens and reads whose they are. Throws `invalid_grant` or `access_denied`
   * when the provider refuses the code or the user, or its id_token is not for this login,
   * `provider_error` for the rest.
   */
  async login(
    provider: Provider,
    trade: CodeTrade,
  ): Promise<{ tokens: ProviderTokens; profile: Profile }> {
    const { issuer } = provider.config;
    const answer = await authorizationCodeGrant(this.#configure(provider), callbackOf(trade), {
      pkceCodeVerifier: trade.verifier,
      expectedState: skipStateCheck,
      ...(issuer === undefined ? {} : { expectedNonce: trade.nonce, idTokenExpected: true }),
    }).catch((error: unknown) => {
      this.#forgetKeys(provider, error);
      return explainTrade(error);
    });
    const tokens = toTokens(answer, trade.scope);
    const profile = await this.readProfile(provider, tokens.accessToken).catch(explainReading);
    const subject = answer.claims()?.sub;
    if (subject !== undefined && subject !== profile.subject) throw refusedCode('subject_mismatch');
    return { tokens, profile };
  }

  /**
   * The next tokens; throws `idp_login_required` when the provider gives no more, and `provider_error`
   * when an id_token comes with them that is another's (OpenID Connect Core, section 12.2).
   */
  async refresh(
    provider: Provider,
    { refreshToken, scope, subject }: TokenRenewal,
  ): Promise<ProviderTokens> {
    const configuration = this.#configure(provider);
    const answer = await refreshTokenGrant(configuration, refreshToken).catch((error: unknown) => {
      this.#forgetKeys(provider, error);
      return explainRefresh(error);
    });
    const named = answer.claims()?.sub ?? subject;
    if (named !== subject) throw providerError('gave the tokens of somebody else');
    const tokens = toTokens(answer, scope);
    return { ...tokens, refreshToken: tokens.refreshToken ?? refreshToken };
  }

  readProfile(provider: Provider, accessToken: string, timeoutMs?: number): Promise<Profile> {
    return readProfile(provider.config, { egress: this.#egress, accessToken, timeoutMs });
  }

  /**
   * After a signature whose key is not among the provider's they are read anew for the next: the client
   * would go on for a minute with those that it has.
   */
  #forgetKeys({ name }: Provider, error: unknown): void {
    const isUnknownKey = error instanceof ClientError && error.code === unknownKeyCode;
    if (isUnknownKey) this.#configurations.delete(name);
  }

  #configure(provider: Provider): Configuration {
    const known = this.#configurations.get(provider.name);
    if (known?.version === provider.version) return known.configuration;
    const configuration = createConfiguration(provider, this.#egress);
    this.#configurations.set(provider.name, { version: provider.version, configuration });
    return configuration;
  }
}

function createConfiguration(provider: Provider, egress: Egress): Configuration {
  const { config, clientSecret } = provider;
  const isOpenId = config.issuer !== undefined;
  const server: ServerMetadata = {
    issuer: issuerOf(provider),
    authorization_endpoint: config.authorizationURL,
    token_endpoint: config.tokenURL,
    ...(config.jwksURL === undefined ? {} : { jwks_uri: config.jwksURL }),
    ...(config.idTokenAlgorithms
      ? { id_token_signing_alg_values_supported: [...config.idTokenAlgorithms] }
      : {}),
  };
  const authenticate = config.tokenAuthentication === 'post' ? ClientSecretPost : ClientSecretBasic;
  const client = new Configuration(server, config.clientID, {}, authenticate(clientSecret));
  client[customFetch] = createProviderFetch({ egress, dropsIdToken: !isOpenId });
  if (isOpenId) enableNonRepudiationChecks(client);
  const isPlain = [config.tokenURL, config.jwksURL].some((url) => url?.startsWith('http:'));
  // Configuring has refused plain HTTP where it is not allowed.
  if (isPlain) allowInsecureRequests(client);
  return client;
}

/** The client reads the code from the address that the browser came back to. */
function callbackOf({ code, redirectUri }: CodeTrade): URL {
  const url = new URL(redirectUri);
  url.searchParams.set('code', code);
  return url;
}

function toTokens(
  answer: {
    readonly access_token: string;
    readonly refresh_token?: string | undefined;
    readonly token_type: string;
    readonly scope?: string | undefined;
    readonly expires_in?: number | undefined;
  },
  scope: string,
): ProviderTokens {
  const issuedAt = new Date();
  const { expires_in: seconds } = answer;
  const lifeMs = seconds === undefined ? undefined : Math.min(seconds, lifeSecondsMax) * 1000;
  return {
    accessToken: answer.access_token,
    refreshToken: answer.refresh_token,
    tokenType: 'Bearer',
    // Without a scope in the answer it is the one that was asked for (RFC 6749, section 5.1).
    scope: answer.scope ?? scope,
    issuedAt,
    expiresAt: lifeMs === undefined ? undefined : new Date(issuedAt.getTime() + lifeMs),
  };
}

function explainTrade(error: unknown): never {
  if (error instanceof ResponseBodyError) {
    if (error.error === 'access_denied') throw accessDenied(error);
    if (error.error === 'invalid_grant') throw refusedCode('provider_refused', error);
    throw providerError('refused the exchange', error);
  }
  if (error instanceof ClientError && isIdTokenFlaw(error)) {
    throw refusedCode('id_token_invalid', error);
  }
  throw explainFailure(error);
}

function explainRefresh(error: unknown): never {
  if (error instanceof ResponseBodyError && error.error === 'invalid_grant') {
    throw idpLoginRequired(error);
  }
  throw explainFailure(error);
}

function explainFailure(error: unknown): Fault {
  const cause = error instanceof ClientError ? error.cause : error;
  const isUnreachable = cause instanceof Fault && cause.code !== 'forbidden';
  return isUnreachable ? unreachable(cause) : providerError('gave no usable answer', error);
}

/** A token that was just given and is refused says that its user may not come in. */
function explainReading(error: unknown): never {
  throw isLoginRequired(error) ? accessDenied(error) : error;
}

/** True for what the client says of an id_token that is not the one it should be. */
function isIdTokenFlaw({ code = '', cause }: ClientError): boolean {
  if (!/^OAUTH_(JWT_|INVALID_RESPONSE|KEY_SELECTION)/.test(code)) return false;
  // Of a whole answer that is not as it should be the client keeps the body, of an id_token its parts.
  const found = cause instanceof Error ? cause.cause : undefined;
  return !(typeof found === 'object' && found !== null && 'body' in found);
}

/** The refusal of a code (RFC 6749, section 5.2); the finer reason goes into the details. */
export function refusedCode(reason: string, cause?: unknown): Fault {
  return new Fault('invalid', 'the authorization code is not valid', {
    reason: 'invalid_grant',
    detail: { reason },
    cause,
  });
}

/** The refusal when the provider, or this suite, does not let the user in. */
export function accessDenied(cause?: unknown): Fault {
  return new Fault('invalid', 'access was denied', { reason: 'access_denied', cause });
}
