import { createInterface } from 'node:readline';
import { Writable } from 'node:stream';
import { Fault } from '../../kit/errors.ts';

const inputBytesMax = 1024 * 1024;

/** Everything that stands on standard input; on a terminal one line, which is not shown. */
export async function readInput(question: string): Promise<string> {
  if (process.stdin.isTTY) return askUnseen(question);
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of process.stdin as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > inputBytesMax) throw new Fault('too_large', 'standard input is over 1 MiB');
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}

/** A secret from standard input, its first line; throws `invalid` when that is empty. */
export async function readSecret(question: string): Promise<string> {
  const [line = ''] = (await readInput(question)).split(/\r?\n/);
  if (line === '') throw new Fault('invalid', `${question}: standard input holds none`);
  return line;
}

/** A secret that is set: on a terminal it is asked for twice, and `invalid` is thrown if they differ. */
export async function readNewSecret(question: string): Promise<string> {
  const secret = await readSecret(question);
  if (!process.stdin.isTTY || (await askUnseen(`${question} again`)) === secret) return secret;
  throw new Fault('invalid', 'the two are not the same; nothing was changed');
}

/** True when there is somebody to ask. */
export function canAsk(): boolean {
  return process.stdin.isTTY && process.stderr.isTTY;
}

/** Where an operator is asked and answers. */
export interface Terminal {
  readonly input: NodeJS.ReadableStream;
  readonly output: NodeJS.WritableStream;
}

/**
 * Asks on the terminal; what is typed from the question on is not shown. Throws `cancelled` when the
 * operator gives up, with the reason `interrupted` for Ctrl-C.
 */
export function askUnseen(
  question: string,
  { input, output }: Terminal = { input: process.stdin, output: process.stderr },
): Promise<string> {
  const nowhere = new Writable({ write: (_chunk, _encoding, done) => done() });
  const reader = createInterface({ input, output: nowhere, terminal: true });
  // Only now, for whoever sees the question may type at once.
  output.write(`${question}: `);
  return new Promise((resolve, reject) => {
    reader.once('line', (line) => {
      resolve(line);
      reader.close();
    });
    reader.once('SIGINT', () => {
      reject(new Fault('cancelled', 'interrupted', { reason: 'interrupted' }));
      reader.close();
    });
    reader.once('close', () => {
      output.write('\n');
      reject(new Fault('cancelled', 'nothing was entered'));
    });
  });
}
