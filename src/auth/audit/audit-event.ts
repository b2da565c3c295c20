import type { AuditEventType } from '../events.ts';

/** Where a request came from. */
export interface Origin {
  readonly ip: string;
  readonly userAgent: string;
}

/** Something that happened. Never put a secret, a token or a password into it. */
export interface AuditEvent {
  readonly eventType: AuditEventType;
  /** Whom it concerns, or who did it; absent when nobody is known. */
  readonly userId?: string | undefined;
  readonly clientId?: string | undefined;
  readonly origin: Origin;
  /** How the caller had logged in: `password`, `api-key`, `refresh-token`, `token`. */
  readonly provider: string;
  /** Whether a second factor was shown; false when absent. */
  readonly mfa?: boolean;
  /** Further facts; texts are cut and cleaned like everything that a caller controls. */
  readonly facts?: Readonly<Record<string, unknown>>;
}
