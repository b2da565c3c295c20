import type { AuthClient } from './auth-session.ts';

/** The options that every command of administration has. */
export interface AdministrationOptions {
  readonly json?: boolean;
  readonly token?: string;
  readonly otp?: string;
}

/** The work of a command; it answers the exit code, which is 0 when it answers nothing. */
export type Work = (client: AuthClient) => Promise<number | void>;
