import { resolve } from 'node:path';
import type { Command } from 'commander';
import { addressBook } from '../addresses.ts';
import { authContract } from '../auth/contract.ts';
import { createClient } from '../kit/client.ts';
import { processEnvironment } from '../kit/config.ts';
import { Fault } from '../kit/errors.ts';
import { readConfiguration } from '../settings.ts';
import { anonymousClient, AuthSession, tracer, type AuthClient } from './auth-session.ts';
import { findCredential, type Credential } from './credentials.ts';
import { printJson } from './output.ts';

/** The options that every command of administration has. */
export interface AdministrationOptions {
  readonly json?: boolean;
  readonly token?: string;
  readonly otp?: string;
}

/** Adds a command with the options that all of administration has, and one example in its help. */
export function addCommand(group: Command, usage: string, example: string): Command {
  const command = group.command(usage);
  return command
    .option('--json', 'answer as JSON')
    .option('--token <token>', 'access token or API key; ENNEAD_TOKEN keeps it off the screen')
    .option('--otp <code>', 'one-time code of an account with a second factor')
    .addHelpText(
      'after',
      () => `\nExample:\n  ennead ${group.name()} ${command.name()} ${example}`,
    );
}

/** The work of a command; it answers the exit code, which is 0 when it answers nothing. */
export type Work = (client: AuthClient) => Promise<number | void>;

/**
 * Does the work with a client of auth that has the operator's identity. What auth refuses is thrown
 * as a Fault whose sentence says what to change.
 */
export async function administer(options: AdministrationOptions, work: Work): Promise<void> {
  const { suite, url } = readPlace();
  const credential = await findCredential(suite, options.token);
  const dataFolder = resolve(suite.dataFolder);
  await using connection = connect(credential, { url, dataFolder, otp: options.otp });
  try {
    process.exitCode = (await work(connection.client)) ?? 0;
  } catch (error) {
    throw explain(error, url, credential.source);
  }
}

/** Does the work with a client that names nobody. */
export async function ask(work: Work): Promise<void> {
  const { url } = readPlace();
  try {
    process.exitCode = (await work(anonymousClient(url))) ?? 0;
  } catch (error) {
    throw explain(error, url, 'nobody');
  }
}

/** Prints an answer for machines or for people, as the operator asked. */
export function show<Answer>(
  { json }: AdministrationOptions,
  answer: Answer,
  print: (answer: Answer) => void,
): void {
  if (json) printJson(answer);
  else print(answer);
}

/** True when the address of auth is one at which nothing answers. */
export function isUnreachable(error: unknown): boolean {
  if (!(error instanceof Fault)) return false;
  const { code } = (error.cause ?? {}) as { code?: unknown };
  const isTransport = error.code === 'unavailable' || error.code === 'internal';
  return isTransport && typeof code === 'string';
}

/** The settings that say where auth is. */
export function readPlace() {
  const config = readConfiguration(processEnvironment(), []);
  const { name } = authContract;
  const url = addressBook(config, []).urlOf(name);
  return { suite: config.suite, url, isElsewhere: config.addressOf(name) !== undefined };
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

function explain(error: unknown, url: string, source: string): unknown {
  if (isUnreachable(error)) {
    return new Fault(
      'unavailable',
      `auth cannot be reached at ${url}: is the suite running? Start it with "ennead up"`,
      { cause: error },
    );
  }
  if (error instanceof Fault && error.code === 'unauthenticated') {
    const message = `auth refused the credential from ${source}: ${error.message}`;
    return new Fault('unauthenticated', message, { cause: error });
  }
  return error;
}
