import type { SuiteConfig } from '../../suite-settings.ts';
import type { AdministrationOptions } from './work.ts';
import { AuthSession, type SessionUse } from './auth-session.ts';
import { findCredential } from './credentials.ts';

/** The operator's identity for services other than auth. */
export interface Login extends AsyncDisposable {
  readonly token: () => Promise<string>;
  /** Absent where the operator gave the token. */
  readonly forgetToken?: () => void;
}

/** Where auth is, and where a session is kept between commands. */
export interface LoginPlace {
  readonly suite: SuiteConfig;
  readonly authUrl: string;
  readonly dataFolder: string;
}

/** Finds the operator's credential; nothing is asked of auth before the first token. */
export async function logIn(
  { suite, authUrl: url, dataFolder }: LoginPlace,
  { token, otp }: AdministrationOptions,
  use: SessionUse = {},
): Promise<Login> {
  const credential = await findCredential(suite, token);
  if (credential.kind === 'token') {
    return { token: async () => credential.token, [Symbol.asyncDispose]: async () => {} };
  }
  const session = new AuthSession({ url, credential, otp, dataFolder, ...use });
  return {
    token: session.token,
    forgetToken: session.forget,
    [Symbol.asyncDispose]: () => session[Symbol.asyncDispose](),
  };
}
