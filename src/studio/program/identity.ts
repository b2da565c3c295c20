import { readFile } from 'node:fs/promises';
import type { Readable } from 'node:stream';
import { Fault } from '../../kit/errors.ts';
import type { ProgramIdentity } from '../runtimes/runtime.ts';

const bytesMax = 64 * 1024;
const urlNames = ['mesh', 'auth', 'gateway', 'registry', 'studio', 'tracer'] as const;

/**
 * The first line of a stream, as soon as it is there; undefined when the stream ends before, for nobody is
 * left to say more. Fault `invalid` for what is no identity; its words hold nothing of it.
 */
export async function readIdentity(stream: Readable): Promise<ProgramIdentity | undefined> {
  const chunks: Buffer[] = [];
  let size = 0;
  const line = new Promise<string | undefined>((resolve, reject) => {
    stream.on('data', (chunk: Buffer) => {
      const end = chunk.indexOf('\n');
      chunks.push(end === -1 ? chunk : chunk.subarray(0, end));
      size += chunk.length;
      if (end !== -1) resolve(Buffer.concat(chunks).toString('utf8'));
      if (size > bytesMax) reject(new Fault('invalid', 'the identity is too long'));
    });
    stream.once('end', () => {
      // What stands in a file or a here-document may lack the last line break.
      const text = Buffer.concat(chunks).toString('utf8').trim();
      resolve(text === '' ? undefined : text);
    });
    stream.once('error', () => resolve(undefined));
  });
  const text = await line;
  return text === undefined ? undefined : parseIdentity(text);
}

/** The identity in a file. */
export async function readIdentityFile(path: string): Promise<ProgramIdentity> {
  try {
    return parseIdentity(await readFile(path, 'utf8'));
  } catch (cause) {
    if (cause instanceof Fault) throw cause;
    throw new Fault('invalid', `the identity cannot be read from ${path}`, { cause });
  }
}

function parseIdentity(text: string): ProgramIdentity {
  let given: unknown;
  try {
    given = JSON.parse(text);
  } catch {
    throw new Fault('invalid', 'the identity is not JSON');
  }
  const flaw = flawOf(given);
  if (flaw !== undefined) throw new Fault('invalid', `the identity is not complete: ${flaw}`);
  // Checked field by field.
  return given as ProgramIdentity;
}

function flawOf(given: unknown): string | undefined {
  if (typeof given !== 'object' || given === null) return 'it is no object';
  const fields = given as Readonly<Record<string, unknown>>;
  const texts = ['agentId', 'name', 'template', 'apiKey'];
  const missing = texts.find((name) => typeof fields[name] !== 'string' || fields[name] === '');
  if (missing !== undefined) return `${missing} is no text`;
  const { capabilities, urls } = fields;
  const isList =
    Array.isArray(capabilities) && capabilities.every((one) => typeof one === 'string');
  if (!isList) return 'capabilities is no list of texts';
  const known = (urls ?? {}) as Readonly<Record<string, unknown>>;
  const unknown = urlNames.find((name) => !URL.canParse(String(known[name])));
  if (unknown !== undefined) return `urls.${unknown} is no address`;
  const optional = ['workspaceId', 'folder'];
  return optional
    .filter((name) => fields[name] !== undefined && typeof fields[name] !== 'string')
    .map((name) => `${name} is no text`)[0];
}
