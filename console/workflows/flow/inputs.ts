import { edgesOf, type Flow } from './flow.ts';
import { isRecord } from './settings.ts';

/** An input as it is typed before a run. */
export interface TypedInput {
  readonly name: string;
  readonly text: string;
  /** Whether the text is JSON, and no text to be handed on as it is. */
  readonly isJson: boolean;
}

const inputPattern = /\binputs(?:\.([A-Za-z_]\w*)|\[\s*["']([^"'\]]+)["']\s*\])/g;

/** The names of the inputs that a flow reads, in the order in which it names them. */
export function findInputs(flow: Flow): readonly string[] {
  const conditions = edgesOf(flow).map(({ condition }) => condition);
  const texts = textsIn([flow.nodes.map(({ data }) => data), conditions]);
  const names = texts.flatMap((text) =>
    [...text.matchAll(inputPattern)].map(([, plain, quoted]) => plain ?? quoted ?? ''),
  );
  return [...new Set(names)];
}

function textsIn(value: unknown): readonly string[] {
  if (typeof value === 'string') return [value];
  if (typeof value !== 'object' || value === null) return [];
  return Object.values(value).flatMap(textsIn);
}

/** The inputs of an execution; those that were left empty are not given. Throws for what is no JSON. */
export function readInputs(typed: readonly TypedInput[]): Record<string, unknown> {
  const given = typed.filter(({ text }) => text.trim() !== '');
  return Object.fromEntries(given.map((input) => [input.name, readInput(input)]));
}

/** Inputs written as one JSON object; none where nothing is written. Throws for anything else. */
export function readMoreInputs(text: string): Readonly<Record<string, unknown>> {
  if (text.trim() === '') return {};
  const value = readInput({ name: 'what is written', text, isJson: true });
  if (isRecord(value)) return value;
  throw new Error('inputs are written as a JSON object');
}

function readInput({ name, text, isJson }: TypedInput): unknown {
  if (!isJson) return text;
  try {
    return JSON.parse(text) as unknown;
  } catch {
    throw new Error(`${name} is no JSON`);
  }
}
