import type { Standing } from './server-login.ts';

/** How the registry shall come to its access. */
export interface AuthorizationRequest {
  readonly scope?: string | undefined;
  /** A client that was registered with the authorization server beforehand. */
  readonly clientId?: string | undefined;
  readonly clientSecret?: string | undefined;
  /** The authorization server that knows this client: its secret goes to no other. */
  readonly issuer?: string | undefined;
  readonly grant?: Standing['grant'] | undefined;
}

/** Where somebody has to log in, or that nobody has to. */
export type Begun = { readonly authorizationUrl: string } | { readonly authorized: true };

/** What an authorization server sends back through the browser (RFC 6749 section 4.1.2, RFC 9207). */
export interface CallbackAnswer {
  readonly state: string;
  readonly code?: string | undefined;
  readonly error?: string | undefined;
  readonly iss?: string | undefined;
}
