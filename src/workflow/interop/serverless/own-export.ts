import { isDeepStrictEqual } from 'node:util';
import { parse } from 'yaml';
import type { Flow } from '../../flow/flow.ts';
import { fieldsOf, listOf, type Fields } from '../fields.ts';
import { exportServerless } from './export.ts';
import { ownMetadata } from './tasks.ts';

export interface OwnExport {
  readonly flow: Flow;
  /** What stands beside the flow, unchecked: its category, tags and tests. */
  readonly kept: Fields;
}

/**
 * What a document of our own was written from; undefined for those of others, and for one whose tasks
 * somebody changed since, as they then say something else than their metadata.
 */
export function readOwnExport(
  document: Fields,
  read: (flow: unknown) => Flow | undefined,
): OwnExport | undefined {
  const whole = keptOf(fieldsOf(document['document']));
  const tasks = listOf(document['do']).flatMap((one) => Object.values(fieldsOf(one)));
  const nodes = tasks.map((task) => keptOf(fieldsOf(task)));
  if (!Array.isArray(whole['edges']) || nodes.some((node) => !('type' in node))) return undefined;
  const { edges, settings, ...kept } = whole;
  const flow = read({ nodes, edges, ...(settings === undefined ? {} : { settings }) });
  if (!flow) return undefined;
  const again = exportServerless({ name: '', description: '', version: 1 }, flow);
  return isDeepStrictEqual(tasksOf(parse(again.text)), tasksOf(document))
    ? { flow, kept }
    : undefined;
}

function keptOf({ metadata }: Fields): Fields {
  return fieldsOf(fieldsOf(metadata)[ownMetadata]);
}

/** Without what we keep there ourselves, and without prototypes, which differ with the reader. */
function tasksOf(document: unknown): unknown {
  const text = JSON.stringify(pick(fieldsOf(document)), (key, value: unknown) =>
    isOurs(key, value) ? undefined : value,
  );
  return JSON.parse(text);
}

function pick({ do: tasks = null, timeout = null }: Fields): Fields {
  return { tasks, timeout };
}

function isOurs(key: string, value: unknown): boolean {
  return key === 'metadata' && ownMetadata in fieldsOf(value);
}
