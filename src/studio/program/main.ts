/**
 * The program of an agent, which a runtime starts: it is told who it is in one line on its standard input,
 * or in the file that ENNEAD_IDENTITY_FILE names, joins the mesh and does tasks until SIGTERM. It outlives
 * the studio, which finds it again.
 */
import { processEnvironment } from '../../kit/environment.ts';
import type { ProgramCredential } from '../runtimes/runtime.ts';
import { readIdentity, readIdentityFile } from './identity.ts';
import { Program } from './program.ts';
import { Credential } from './suite/credential.ts';

// Whoever read what this prints may have gone; that ends nothing.
for (const stream of [process.stdout, process.stderr]) stream.on('error', () => {});
process.on('SIGHUP', () => {});
// An unexpected end of one connection must not end all tasks.
process.on('unhandledRejection', (reason) => complain(wordsOf(reason)));

const loginCheckMs = 60_000;

await run();

async function run(): Promise<void> {
  const file = processEnvironment()['ENNEAD_IDENTITY_FILE'];
  let credential: Credential | undefined;
  let isWaiting = true;
  const onCredential = ({ apiKey, authUrl }: ProgramCredential) => {
    credential = new Credential({ url: authUrl, apiKey });
    stayLoggedIn(credential);
    credential.refused.addEventListener('abort', () => {
      if (!isWaiting) return;
      complain('auth refused its key');
      process.exit(1);
    });
  };
  const reading = file ? readIdentityFile(file) : readIdentity(process.stdin, onCredential);
  const idle = untilAskedToEnd();
  // Its first use takes longest: who waits to be told has the time for it now.
  void fetch('data:,').catch(() => {});
  const identity = await Promise.race([reading, idle]).catch((error: unknown) => {
    complain(`cannot start: ${wordsOf(error)}`);
    process.exit(1);
  });
  isWaiting = false;
  // Nobody is left who could say who this is.
  if (!identity) process.exit(0);
  const program = new Program({ identity, credential, log });
  const starting = program.start().catch((error: unknown) => {
    complain(`cannot join the mesh: ${wordsOf(error)}`);
    process.exit(1);
  });
  const endRefused = async () => {
    await starting;
    complain(`ends: ${wordsOf(program.refused.reason)}`);
    await program.end();
    process.exit(1);
  };
  program.refused.addEventListener('abort', () => void endRefused());
  await idle;
  await program.end();
  process.exit(0);
}

/** Who tells the program who it is does not wait for auth then. */
function stayLoggedIn(credential: Credential): void {
  const logIn = () => void credential.token().catch(() => {});
  logIn();
  setInterval(logIn, loginCheckMs).unref();
}

function untilAskedToEnd(): Promise<undefined> {
  return new Promise((resolve) => {
    for (const signal of ['SIGTERM', 'SIGINT'] as const)
      process.on(signal, () => resolve(undefined));
  });
}

function log(line: string): void {
  process.stdout.write(`${line}\n`);
}

function complain(line: string): void {
  process.stderr.write(`${line}\n`);
}

function wordsOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const { message, cause } = error;
  const isTold = cause instanceof Error && !message.includes(cause.message);
  return `${message}${isTold ? ` (${cause.message})` : ''}`.replaceAll('\n', ' ');
}
