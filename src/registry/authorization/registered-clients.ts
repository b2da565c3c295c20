import type { FetchLike, StoredOAuthClientInformation } from '@modelcontextprotocol/client';
import { newSecret } from '../../kit/ids.ts';
import {
  readRegistration,
  saveRegistration,
  type AuthorizationSql,
} from './authorization-store.ts';
import type { Standing } from './server-login.ts';
import type { StandingBox } from './standing-box.ts';

export interface RegisteredClientsOptions {
  readonly sql: AuthorizationSql;
  readonly box: Pick<StandingBox, 'seal' | 'unseal'>;
  readonly fetch: FetchLike;
  readonly callbackUrl: string;
}

/** Whose client is looked for, and what it has to be registered for. */
export interface ClientUse {
  readonly connectionId: string;
  /** What the login asks for, where it is said before the metadata is read. */
  readonly scope?: string | undefined;
}

/**
 * The clients that the registry has registered itself as, one for each connection. One is used again for
 * as long as its authorization server knows it and what would be registered is the same.
 */
export class RegisteredClients {
  readonly #options: RegisteredClientsOptions;

  constructor(options: RegisteredClientsOptions) {
    this.#options = options;
  }

  /** Nothing where another client has to be registered; the standing's metadata has been read. */
  async find(
    { connectionId, scope }: ClientUse,
    standing: Standing,
  ): Promise<StoredOAuthClientInformation | undefined> {
    const sealed = await readRegistration(this.#options.sql, connectionId);
    if (sealed === undefined) return undefined;
    const known = this.#options.box.unseal(sealed, placeOf(connectionId));
    const { client } = known;
    const isSame = known.resource === standing.resource && known.grant === standing.grant;
    if (!client || !isSame || known.scope !== scopeOf(scope, standing)) return undefined;
    if (isInteractive(standing) && !this.#isForCallback(client)) return undefined;
    if (client.issuer !== standing.discovery?.authorizationServerMetadata?.issuer) return undefined;
    return (await this.#isKnown(client, standing)) ? client : undefined;
  }

  async keep({ connectionId, scope }: ClientUse, standing: Standing): Promise<void> {
    const { resource, grant, client } = standing;
    const registration = { resource, grant, client, scope: scopeOf(scope, standing) };
    const sealed = this.#options.box.seal(registration, placeOf(connectionId));
    await saveRegistration(this.#options.sql, connectionId, sealed);
  }

  #isForCallback(client: StoredOAuthClientInformation): boolean {
    return 'redirect_uris' in client && client.redirect_uris.includes(this.#options.callbackUrl);
  }

  /**
   * Whether the authorization server knows the client still: a code that nobody was given is refused as
   * `invalid_grant` then, and else as `invalid_client` (RFC 6749 section 5.2). The page where somebody
   * logs in would tell only them. `unauthorized_client` is what one hears that never takes codes.
   */
  async #isKnown(client: StoredOAuthClientInformation, standing: Standing): Promise<boolean> {
    const { exchangeAuthorization, OAuthError } = await import('@modelcontextprotocol/client');
    const { discovery } = standing;
    const metadata = discovery?.authorizationServerMetadata;
    if (!discovery || !metadata) return false;
    try {
      await exchangeAuthorization(discovery.authorizationServerUrl, {
        metadata,
        clientInformation: client,
        authorizationCode: newSecret(),
        codeVerifier: newSecret(),
        iss: metadata.issuer,
        redirectUri: this.#options.callbackUrl,
        fetchFn: this.#options.fetch,
      });
      return true;
    } catch (error) {
      const code = error instanceof OAuthError ? error.code : undefined;
      if (code === 'unauthorized_client') return !isInteractive(standing);
      return code !== 'invalid_client';
    }
  }
}

function isInteractive({ grant }: Standing): boolean {
  return grant === 'authorization_code';
}

/** As the SDK chooses it for a registration. */
function scopeOf(scope: string | undefined, { discovery }: Standing): string | undefined {
  return scope ?? discovery?.resourceMetadata?.scopes_supported?.join(' ');
}

function placeOf(connectionId: string): string {
  return `client of ${connectionId}`;
}
