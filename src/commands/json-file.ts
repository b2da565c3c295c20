import { readFile } from 'node:fs/promises';
import type { Static, TSchema } from 'typebox';
import { Value } from 'typebox/value';
import { Fault } from '../kit/errors.ts';
import { findFlaws } from '../kit/schema-flaws.ts';
import { readInput } from './secret-input.ts';

/** The content of a JSON file, or of standard input when the path is `-`; throws `invalid`. */
export async function readJson(path: string): Promise<unknown> {
  const text = await readText(path);
  try {
    return JSON.parse(text);
  } catch {
    // What the parser says would show the text, which may hold a secret.
    throw new Fault('invalid', `${nameOf(path)} is no JSON`);
  }
}

/** The value itself when it is of the schema; throws `invalid` with the first flaw when not. */
export function requireSchema<Schema extends TSchema>(
  value: unknown,
  schema: Schema,
  path: string,
): Static<Schema> {
  const [flaw] = findFlaws(Value.Errors(schema, value));
  if (!flaw) return value as Static<Schema>; // Just checked.
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
