import { createInterface } from 'node:readline';
import { Writable } from 'node:stream';
import { Fault } from '../kit/errors.ts';

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

/** True when there is somebody to ask. */
export function canAsk(): boolean {
  return process.stdin.isTTY && process.stderr.isTTY;
}

/** Asks on the terminal; what is typed is not shown. Throws `cancelled` when the operator gives up. */
export function askUnseen(question: string): Promise<string> {
  process.stderr.write(`${question}: `);
  const nowhere = new Writable({ write: (_chunk, _encoding, done) => done() });
  const reader = createInterface({ input: process.stdin, output: nowhere, terminal: true });
  return new Promise((resolve, reject) => {
    reader.once('line', (line) => {
      resolve(line);
      reader.close();
    });
    reader.once('close', () => {
      process.stderr.write('\n');
      reject(new Fault('cancelled', 'nothing was entered'));
    });
  });
}
