import { readFile } from 'node:fs/promises';
import { basename, extname } from 'node:path';
import { Fault } from '../../kit/errors.ts';
import { readInput } from '../operator/secret-input.ts';

/** A workflow in a file. */
export interface WorkflowFile {
  readonly name: string;
  readonly description?: string;
  readonly category?: string;
  readonly tags?: string[];
  readonly flow: Record<string, unknown>;
  /** Tests of it, as the API takes them. */
  readonly tests?: unknown[];
}

/** The text of a file, or of standard input when the path is `-`. */
export async function readDocumentText(path: string): Promise<string> {
  if (path === '-') return readInput('Document');
  return readFile(path, 'utf8').catch((cause: NodeJS.ErrnoException) => {
    throw new Fault('invalid', `${path} cannot be read (${cause.code})`, { cause });
  });
}

/** A workflow of a JSON or YAML file: the document of an export, or a bare flow. */
export async function readWorkflowFile(path: string): Promise<WorkflowFile> {
  const { parse } = await import('yaml');
  const text = await readDocumentText(path);
  const value = parsed(path, () => parse(text, { maxAliasCount: 100 }));
  if (!isObject(value)) throw new Fault('invalid', `${path} holds no workflow`);
  const name = path === '-' ? 'Untitled' : basename(path, extname(path));
  if (Array.isArray(value['nodes'])) return { name, flow: value };
  if (!isObject(value['flow'])) throw new Fault('invalid', `${path} holds no flow`);
  // Whoever takes it checks its fields, with better words.
  return { name, ...value, flow: value['flow'] };
}

/** `key=value` pairs; a value that is JSON is taken as such, anything else as text. */
export function readInputs(pairs: readonly string[]): Record<string, unknown> {
  return Object.fromEntries(
    pairs.map((pair) => {
      const at = pair.indexOf('=');
      if (at < 1) throw new Fault('invalid', `an input is written key=value, not ${pair}`);
      return [pair.slice(0, at), readValue(pair.slice(at + 1))];
    }),
  );
}

function readValue(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

function parsed(path: string, parse: () => unknown): unknown {
  try {
    return parse();
  } catch (cause) {
    const [line = ''] = cause instanceof Error ? cause.message.split('\n') : [];
    throw new Fault('invalid', `${path} is neither JSON nor YAML: ${line}`, { cause });
  }
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
