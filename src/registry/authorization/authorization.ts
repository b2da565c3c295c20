import type { Bus } from '../../kit/bus/bus.ts';
import type { Egress } from '../../kit/egress/egress.ts';
import type { Log } from '../../kit/log.ts';
import type { Sealer } from '../../kit/secrets/sealing.ts';
import type { Directory } from '../connections/connection.ts';
import type { AuthorizationSql } from './authorization-store.ts';
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

/** What the registry's access to servers is made of. */
export interface AuthorizationsOptions {
  readonly sql: AuthorizationSql;
  readonly bus: Pick<Bus, 'topic'>;
  readonly sealer: Pick<Sealer, 'seal' | 'unseal'>;
  readonly egress: Pick<Egress, 'fetch'>;
  readonly directory: Pick<Directory, 'find' | 'onChange'>;
  /** Where the registry is reached, without a slash at the end. */
  readonly url: string;
  /** Called on every replica when a server's authorization was given, replaced or removed. */
  readonly onChanged: (connectionId: string) => void;
  readonly log: Log;
}
