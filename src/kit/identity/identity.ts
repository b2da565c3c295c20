/** Who calls, as a verified token says. */
export interface Identity {
  /** The token's subject: a user's or a service identity's id. */
  readonly subject: string;
  readonly kind: 'user' | 'service';
  readonly roles: readonly string[];
  readonly permissions: readonly string[];
  readonly clientId: string;
  readonly name: string | undefined;
  readonly email: string | undefined;
  readonly scope: string;
  /** The token's own id. */
  readonly tokenId: string;
  /** What the token was issued under, a login session or an API key; revoking that revokes it. */
  readonly sessionId: string;
  /** Which of its subject's revocations came before the token: see `Revocation`. */
  readonly tokenEpoch: number;
  /** Whether it says less than its holder may, for somebody else to do less with. */
  readonly isNarrowed: boolean;
  /** Unix seconds. */
  readonly expiresAt: number;
}
