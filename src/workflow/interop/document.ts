import { Fault } from '../../kit/errors.ts';
import { isFields, listOf, textOf, type Fields } from './fields.ts';
import type { InteropFormat } from './report.ts';
import { isN8n } from './n8n/document.ts';

/** Bytes of a document. */
export const documentBytesMax = 4 * 1024 * 1024;
const depthMax = 64;
/** Objects and lists in it. */
const nestedMax = 100_000;

/** The document as an object: a text is read as JSON, else as YAML. Fault `invalid` (`bad_document`). */
export async function readDocument(given: unknown): Promise<Fields> {
  const value = typeof given === 'string' ? await parse(given) : given;
  const [first] = listOf(value);
  const document = isFields(value) ? value : first;
  if (!isFields(document)) throw badDocument('the document must be an object');
  requireShallow(document);
  return document;
}

/** What kind of document it is; Fault `invalid` (`unknown_format`) when nothing fits. */
export function recogniseFormat(document: Fields): InteropFormat {
  const found = recognisers.find(([, isIt]) => isIt(document))?.[0];
  if (found) return found;
  const message = 'this is no workflow of n8n, Flowise, Langflow, Serverless Workflow or ours';
  throw new Fault('invalid', message, { reason: 'unknown_format' });
}

/** What our own exports say they are. */
export const ownFormat = 'ennead.workflow/v1';

const recognisers: readonly (readonly [InteropFormat, (document: Fields) => boolean])[] = [
  ['ennead', (document) => document['format'] === ownFormat || isOwnFlow(document)],
  ['n8n', isN8n],
  ['serverless-workflow', ({ document, do: tasks }) => isFields(document) && Array.isArray(tasks)],
  ['langflow', ({ data }) => isFields(data) && Array.isArray(data['nodes'])],
  ['flowise', ({ nodes }) => Array.isArray(nodes) && nodes.every(isFlowiseNode)],
];

function isOwnFlow({ flow }: Fields): boolean {
  return isFields(flow) && Array.isArray(flow['nodes']);
}

function isFlowiseNode(node: unknown): boolean {
  return isFields(node) && isFields(node['data']) && textOf(node['data']['name']) !== '';
}

async function parse(text: string): Promise<unknown> {
  if (text.length > documentBytesMax) throw badDocument('the document is too large');
  if (/^\s*[[{]/.test(text)) {
    try {
      return JSON.parse(text);
    } catch {
      // YAML may begin with a bracket too.
    }
  }
  const { parse: parseYaml } = await import('yaml');
  try {
    return parseYaml(text, { maxAliasCount: 100, schema: 'core' });
  } catch (cause) {
    const [line = ''] = cause instanceof Error ? cause.message.split('\n') : [];
    throw badDocument(`the document is neither JSON nor YAML: ${line.slice(0, 200)}`, cause);
  }
}

function requireShallow(document: Fields): void {
  let level: readonly unknown[] = [document];
  let count = 0;
  for (let depth = 0; level.length > 0; depth += 1) {
    if (depth > depthMax) throw badDocument('the document is nested too deep');
    level = level.flatMap((value) => Object.values(fieldsOfAny(value)).filter(isNested));
    count += level.length;
    // Aliases of YAML may make much of little.
    if (count > nestedMax) throw badDocument('the document is too large');
  }
}

function isNested(value: unknown): boolean {
  return typeof value === 'object' && value !== null;
}

function fieldsOfAny(value: unknown): object {
  return typeof value === 'object' && value !== null ? value : {};
}

function badDocument(message: string, cause?: unknown): Fault {
  return new Fault('invalid', message, { reason: 'bad_document', cause });
}
