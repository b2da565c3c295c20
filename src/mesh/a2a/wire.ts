import { fieldOf, hasField } from '../tasks/caller.ts';

/** The versions of A2A that the mesh speaks: they name methods, roles, states and parts differently. */
export type A2aVersion = '1.0' | '0.3';

/** What a part of a message or artifact carries that the mesh understands. */
export type PlainPart = { readonly text: string } | { readonly data: unknown };

/** A2A's task states by the names of 0.3; 1.0 writes `TASK_STATE_` before them. */
export type A2aState =
  | 'submitted'
  | 'working'
  | 'completed'
  | 'failed'
  | 'canceled'
  | 'rejected'
  | 'input-required'
  | 'auth-required';

export const methods = {
  send: { '1.0': 'SendMessage', '0.3': 'message/send' },
  get: { '1.0': 'GetTask', '0.3': 'tasks/get' },
  cancel: { '1.0': 'CancelTask', '0.3': 'tasks/cancel' },
} as const;

/** JSON-RPC 2.0 and A2A 1.0, section 5.4. */
export const rpcErrors = {
  invalidRequest: -32600,
  methodNotFound: -32601,
  invalidParams: -32602,
  internal: -32603,
  taskNotFound: -32001,
  taskNotCancelable: -32002,
  pushNotSupported: -32003,
  unsupportedOperation: -32004,
  versionNotSupported: -32009,
} as const;

/** A part as a version writes it. */
export function writePart(part: PlainPart, version: A2aVersion): Record<string, unknown> {
  if (version === '1.0') return { ...part };
  if ('text' in part) return { kind: 'text', text: part.text };
  // In 0.3 data is an object.
  const isObject = typeof part.data === 'object' && part.data !== null && !Array.isArray(part.data);
  return { kind: 'data', data: isObject ? part.data : { value: part.data } };
}

/** A file of a message or artifact, as A2A 1.0 names its fields. */
export interface FilePart {
  readonly filename?: string;
  readonly mediaType?: string;
  /** Its content in base64. */
  readonly raw?: string;
  /** Where it lies. */
  readonly url?: string;
}

/** The files among parts of either version's form. */
export function readFiles(parts: unknown): FilePart[] {
  if (!Array.isArray(parts)) return [];
  return parts.flatMap((part: unknown): FilePart[] => {
    // 0.3 has them in a field of their own, and other names.
    const file = fieldOf(part, 'file');
    const read = file === undefined ? fieldsOf(part, fileNames) : fieldsOf(file, legacyFileNames);
    return read.raw === undefined && read.url === undefined ? [] : [read];
  });
}

const fileNames = { filename: 'filename', mediaType: 'mediaType', raw: 'raw', url: 'url' } as const;
const legacyFileNames = {
  filename: 'name',
  mediaType: 'mimeType',
  raw: 'bytes',
  url: 'uri',
} as const;

function fieldsOf(from: unknown, names: Readonly<Record<keyof FilePart, string>>): FilePart {
  const entries = Object.entries(names).map(([name, given]) => [name, fieldOf(from, given)]);
  return Object.fromEntries(
    entries.filter(([, value]) => typeof value === 'string' && value !== ''),
  );
}

/** The texts and data among parts of either version's form. */
export function readParts(parts: unknown): PlainPart[] {
  if (!Array.isArray(parts)) return [];
  return parts.flatMap((part: unknown): PlainPart[] => {
    const text = fieldOf(part, 'text');
    if (typeof text === 'string') return [{ text }];
    return hasField(part, 'data') ? [{ data: fieldOf(part, 'data') }] : [];
  });
}

/** A state as a version writes it. */
export function writeState(state: A2aState, version: A2aVersion): string {
  if (version === '0.3') return state;
  return `TASK_STATE_${state.toUpperCase().replaceAll('-', '_')}`;
}

/** A state in either version's form, by the name of 0.3. */
export function readState(state: unknown): string {
  if (typeof state !== 'string') return '';
  return state
    .replace(/^TASK_STATE_/, '')
    .toLowerCase()
    .replaceAll('_', '-');
}
