import { resolve } from 'node:path';
import { addressBook } from '../../addresses.ts';
import { authContract } from '../../auth/contract.ts';
import { createClient } from '../../kit/client.ts';
import { processEnvironment, readConfig } from '../../kit/config.ts';
import { Fault } from '../../kit/errors.ts';
import { addressSetting, suiteSettings, type SuiteConfig } from '../../suite-settings.ts';
import type { AdministrationOptions, Work } from './work.ts';
import { anonymousClient, AuthSession, tracer, type AuthClient } from './auth-session.ts';
import { findCredential, type Credential } from './credentials.ts';

/** Does the work with the operator's identity; answers the exit code. */
export async function workAsOperator(options: AdministrationOptions, work: Work): Promise<number> {
  const { suite, url } = readPlace();
  const credential = await findCredential(suite, options.token);
  const dataFolder = resolve(suite.dataFolder);
  await using connection = connect(credential, { url, dataFolder, otp: options.otp });
  try {
    return (await work(connection.client)) ?? 0;
  } catch (error) {
    throw explain(error, { url, source: credential.source });
  }
}

/** Does the work with the identity of nobody; answers the exit code. */
export async function workAsNobody(work: Work): Promise<number> {
  const { url } = readPlace();
  try {
    return (await work(anonymousClient(url))) ?? 0;
  } catch (error) {
    throw explain(error, { url, source: 'nobody' });
  }
}

/** Where the settings say that auth is. */
export interface Place {
  readonly suite: SuiteConfig;
  readonly url: string;
  /** True when auth runs in another suite, whose database is not here. */
  readonly isElsewhere: boolean;
}

/** Reads the few settings of a client, and none of the services' own. */
export function readPlace(): Place {
  const { name } = authContract;
  const groups = { suite: suiteSettings, addresses: { own: addressSetting(name) } };
  const { suite, addresses } = readConfig(groups, processEnvironment());
  const url = addressBook({ suite, addressOf: () => addresses.own }, []).urlOf(name);
  return { suite, url, isElsewhere: addresses.own !== undefined };
}

/** True when nothing answers at the address of auth. */
export async function isStopped({ url }: Place): Promise<boolean> {
  try {
    await anonymousClient(url).health({});
    return false;
  } catch (error) {
    return isUnreachable(error);
  }
}

interface ConnectionOptions {
  readonly url: string;
  readonly dataFolder: string;
  readonly otp: string | undefined;
}

interface Connection extends AsyncDisposable {
  readonly client: AuthClient;
}

function connect(credential: Credential, options: ConnectionOptions): Connection {
  const { url } = options;
  if (credential.kind === 'token') {
    const token = async () => credential.token;
    const client = createClient(authContract, { baseUrl: url, tracer, token });
    return { client, [Symbol.asyncDispose]: async () => {} };
  }
  const session = new AuthSession({ ...options, credential });
  const { token, forget: forgetToken } = session;
  const client = createClient(authContract, { baseUrl: url, tracer, token, forgetToken });
  return { client, [Symbol.asyncDispose]: () => session[Symbol.asyncDispose]() };
}

function explain(
  error: unknown,
  { url, source }: { readonly url: string; readonly source: string },
): unknown {
  if (!(error instanceof Fault)) return error;
  const sentence = sentenceOf(error, { url, source });
  return sentence === undefined ? error : new Fault(error.code, sentence, { cause: error });
}

/** What went wrong and what to do next; undefined where the refusal itself says it. */
function sentenceOf(
  error: Fault,
  { url, source }: { readonly url: string; readonly source: string },
): string | undefined {
  const { code, message } = error;
  if (isUnreachable(error)) {
    return `auth cannot be reached at ${url}: is the suite running? Start it with "ennead up"`;
  }
  if (code === 'unauthenticated') {
    return `auth refused the credential from ${source}: ${message}`;
  }
  if (code === 'forbidden') {
    return `${message}: the credential from ${source} does not permit this`;
  }
  return undefined;
}

/** True for a failure to reach the address, which may be reported as one of the service. */
function isUnreachable(error: unknown): boolean {
  if (!(error instanceof Fault)) return false;
  const { code } = (error.cause ?? {}) as { code?: unknown };
  const isTransport = error.code === 'unavailable' || error.code === 'internal';
  return isTransport && typeof code === 'string';
}
