import { readFile } from 'node:fs/promises';
import type { Static } from 'typebox';
import { Value } from 'typebox/value';
import { authContract } from '../auth/contract.ts';
import { Fault } from '../kit/errors.ts';
import { findFlaws } from '../kit/schema-flaws.ts';
import { readInput } from './operator/secret-input.ts';

/** The content of a JSON file, or of standard input when the path is `-`; throws `invalid`. */
export async function readJson(
  path: string,
  parse: (text: string) => unknown = (text) => JSON.parse(text),
): Promise<unknown> {
  const text = await readText(path);
  try {
    return parse(text);
  } catch {
    // What the parser says would show the text, which may hold a secret.
    throw new Fault('invalid', `${nameOf(path)} is no JSON`);
  }
}

type Routes = typeof authContract.routes;
type Described = 'replaceGroupMappings' | 'oauthConfigure';

/** The value itself when the route takes it as its body; throws `invalid` with the first flaw when not. */
export function requireBody<Name extends Described>(
  value: unknown,
  name: Name,
  path: string,
): Static<Routes[Name]['schema']['body']> {
  const { body } = authContract.routes[name].schema;
  const [flaw] = findFlaws(Value.Errors(body, value), body);
  // Just checked.
  if (!flaw) return value as Static<Routes[Name]['schema']['body']>;
  throw new Fault('invalid', `${nameOf(path)}: ${flaw.place || 'it'} ${flaw.message}`);
}

async function readText(path: string): Promise<string> {
  if (path === '-') return readInput('JSON');
  return readFile(path, 'utf8').catch((cause: NodeJS.ErrnoException) => {
    throw new Fault('invalid', `${path} cannot be read (${cause.code})`, { cause });
  });
}

function nameOf(path: string): string {
  return path === '-' ? 'standard input' : path;
}
