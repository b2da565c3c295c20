import type { Identity } from '../kit/identity/identity.ts';

/** Who asks, and with what: calls to other services on their behalf carry their own credential. */
export interface Caller {
  readonly identity: Identity;
  /** An access token or an API key, as other services take it behind `Bearer`. Never stored or logged. */
  readonly credential: string;
}
