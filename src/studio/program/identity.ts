import { readFile } from 'node:fs/promises';
import type { Readable } from 'node:stream';
import { Fault } from '../../kit/errors.ts';
import type { ProgramCredential, ProgramIdentity } from '../runtimes/runtime.ts';

const bytesMax = 64 * 1024;
const urlNames = ['mesh', 'auth', 'gateway', 'registry', 'studio', 'tracer'] as const;

/**
 * Who the program is, as soon as a stream has the line; undefined when the stream ends before, for nobody
 * is left to say more. A key that comes before it is told to `onCredential`. Fault `invalid` for what is
 * neither; its words hold nothing of it.
 */
export async function readIdentity(
  stream: Readable,
  onCredential: (credential: ProgramCredential) => void,
): Promise<ProgramIdentity | undefined> {
  for await (const line of linesOf(stream)) {
    const given = parseJson(line);
    const credential = credentialIn(given);
    if (!credential) return checkIdentity(given);
    onCredential(credential);
  }
  return undefined;
}

/** Without empty ones; ends as the stream does. */
async function* linesOf(stream: Readable): AsyncGenerator<string> {
  let held = Buffer.alloc(0);
  try {
    for await (const chunk of stream as AsyncIterable<Buffer>) {
      held = Buffer.concat([held, chunk]);
      for (let end = held.indexOf('\n'); end !== -1; end = held.indexOf('\n')) {
        const line = held.subarray(0, end).toString('utf8');
        held = held.subarray(end + 1);
        if (line.trim() !== '') yield line;
      }
      if (held.length > bytesMax) throw new Fault('invalid', 'the identity is too long');
    }
  } catch (error) {
    if (error instanceof Fault) throw error;
    return;
  }
  // What stands in a file or a here-document may lack the last line break.
  const rest = held.toString('utf8').trim();
  if (rest !== '') yield rest;
}

/** The identity in a file. */
export async function readIdentityFile(path: string): Promise<ProgramIdentity> {
  try {
    return checkIdentity(parseJson(await readFile(path, 'utf8')));
  } catch (cause) {
    if (cause instanceof Fault) throw cause;
    throw new Fault('invalid', `the identity cannot be read from ${path}`, { cause });
  }
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new Fault('invalid', 'the identity is not JSON');
  }
}

function credentialIn(given: unknown): ProgramCredential | undefined {
  const { credential } = (given ?? {}) as { readonly credential?: Partial<ProgramCredential> };
  const { apiKey, authUrl } = credential ?? {};
  const isWhole = typeof apiKey === 'string' && URL.canParse(String(authUrl));
  return isWhole ? { apiKey, authUrl: String(authUrl) } : undefined;
}

function checkIdentity(given: unknown): ProgramIdentity {
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
