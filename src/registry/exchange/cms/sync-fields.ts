import type { Connection } from '../../connections/connection.ts';
import { isSame, type CmsRecord, type Fields } from './cms-record.ts';
import { recordOf, type Json } from '../json-values.ts';
import { publicEndpoint } from '../public-endpoint.ts';
import type { Side } from './sync-result.ts';

/** What both sides said when they were last equal; each in its own form. */
export interface Base {
  readonly local: Fields;
  readonly remote: Fields;
}

export interface FieldConflict {
  readonly field: string;
  readonly owner: Side;
  readonly resolution: 'kept' | 'owner';
  readonly registry: unknown;
  readonly cms: unknown;
}

/** What a comparison of two sides came to. */
export interface Merge {
  /** New values for the registry; undefined removes one. */
  readonly toRegistry: ReadonlyMap<string, unknown>;
  readonly toCms: ReadonlyMap<string, unknown>;
  /** Fields that are alike now. */
  readonly settled: readonly string[];
  readonly conflicts: readonly FieldConflict[];
}

export interface MayChange {
  readonly registry: boolean;
  readonly cms: boolean;
}

const metadataPrefix = 'metadata.';
const description = 'description';
/** The CMS groups servers; what groups a server is in is kept in its metadata. */
export const bundlesField = 'bundles';

/** A connection's fields as `CmsRecord.fields` has them; secrets are no part of them. */
export function localFields(connection: Connection): Fields {
  const { name, protocol, declared, metadata } = connection;
  const found = publicEndpoint(connection);
  const endpoint = found && ('url' in found ? { url: found.url } : commandOf(found));
  const labels = Object.entries(metadata).map(([key, value]) => {
    const isOwnField = key === bundlesField || (key === description && typeof value === 'string');
    return [isOwnField ? key : metadataPrefix + key, value] as const;
  });
  return {
    ...Object.fromEntries(labels),
    name,
    protocol,
    ...(endpoint ? { endpoint } : {}),
    capabilities: declared.map((one) => one.name),
  };
}

function commandOf({ command, args }: { command: string; args: readonly string[] }): Json {
  return { command, args: [...args] };
}

/** The change of a connection's metadata that gives it these values. */
export function toMetadata(changes: ReadonlyMap<string, unknown>): Record<string, unknown> {
  const metadata: Record<string, unknown> = {};
  for (const [field, value] of changes) metadata[metadataKeyOf(field)] = value ?? null;
  return metadata;
}

/** The metadata that a new connection has from a record. */
export function metadataOfRecord(fields: Fields): Record<string, unknown> {
  const entries = Object.entries(fields).filter(([field]) => ownerOf(field) === 'cms');
  return Object.fromEntries(entries.map(([field, value]) => [metadataKeyOf(field), value]));
}

function metadataKeyOf(field: string): string {
  return field.startsWith(metadataPrefix) ? field.slice(metadataPrefix.length) : field;
}

/** Fields as a CMS is sent them, its metadata whole. */
export function toBody(fields: Fields): Record<string, unknown> {
  const body: Record<string, unknown> = {};
  const metadata: Record<string, unknown> = {};
  for (const [field, value] of Object.entries(fields)) {
    if (field.startsWith(metadataPrefix)) metadata[metadataKeyOf(field)] = value;
    else if (field !== bundlesField) body[field] = value;
  }
  return Object.keys(metadata).length > 0 ? { ...body, metadata } : body;
}

/** What of a record is sent for a change: the fields, and the whole metadata when a part of it changes. */
export function changedBody(
  before: Fields,
  changes: ReadonlyMap<string, unknown>,
): { changed: Json; whole: Json } {
  const whole = toBody(withChanges(before, changes));
  const names = [...changes.keys()].map((field) =>
    field.startsWith(metadataPrefix) ? 'metadata' : field,
  );
  const changed = Object.fromEntries(names.map((name) => [name, whole[name] ?? null]));
  return { changed, whole };
}

export function withChanges(fields: Fields, changes: ReadonlyMap<string, unknown>): Fields {
  const changed = { ...recordOf(fields), ...Object.fromEntries(changes) };
  return Object.fromEntries(Object.entries(changed).filter(([, value]) => value !== undefined));
}

function ownerOf(field: string): Side {
  const isCms = field === description || field === bundlesField || field.startsWith(metadataPrefix);
  return isCms ? 'cms' : 'registry';
}

/** Compares what both sides have with what they had when they were last equal. */
export function mergeFields(
  local: Fields,
  record: CmsRecord,
  { base, may }: { readonly base: Base | undefined; readonly may: MayChange },
): Merge {
  const merge = {
    toRegistry: new Map<string, unknown>(),
    toCms: new Map<string, unknown>(),
    settled: new Array<string>(),
    conflicts: new Array<FieldConflict>(),
  };
  const { fields: remote } = record;
  const all = [local, remote, base?.local ?? {}, base?.remote ?? {}];
  for (const field of new Set(all.flatMap((one) => Object.keys(one)))) {
    const owner = ownerOf(field);
    const isTold = tells(record, field);
    const sides: Sides = { local: local[field], remote: isTold ? remote[field] : undefined };
    const step = base
      ? compare(sides, { local: base.local[field], remote: base.remote[field], owner, isTold })
      : firstStep(sides, owner, isTold);
    take(merge, { field, owner, step, sides, may });
  }
  return merge;
}

/** What a record says nothing of was not changed there. */
function tells(record: CmsRecord, field: string): boolean {
  if (field.startsWith(metadataPrefix)) return record.hasMetadata;
  if (field === bundlesField) return record.hasBundles;
  return field in record.fields;
}

interface Sides {
  readonly local: unknown;
  readonly remote: unknown;
}

/** `put-back`: what the side has that does not own the field, and no other has, is replaced. */
type Step = 'none' | 'settle' | 'to-registry' | 'to-cms' | 'conflict' | PutBack;
type PutBack = 'put-back-registry' | 'put-back-cms';

interface Before extends Sides {
  readonly owner: Side;
  readonly isTold: boolean;
}

function compare({ local, remote }: Sides, before: Before): Step {
  const { owner, isTold } = before;
  const isLocalNew = !isSame(local, before.local);
  const isRemoteNew = isTold && !isSame(remote, before.remote);
  if (!isLocalNew && !isRemoteNew) return 'none';
  if (isTold && isSame(local, remote)) return 'settle';
  if (isLocalNew && isRemoteNew) return 'conflict';
  if (isLocalNew) return owner === 'registry' ? 'to-cms' : backFrom(isTold);
  return owner === 'cms' ? 'to-registry' : 'put-back-cms';
}

/** What a CMS does not tell cannot be put back. */
function backFrom(isTold: boolean): Step {
  return isTold ? 'put-back-registry' : 'none';
}

/** Where there is no base the owner gives, which is told where the other has something else, and who has nothing takes. */
function firstStep({ local, remote }: Sides, owner: Side, isTold: boolean): Step {
  if (!isTold || isSame(local, remote)) return 'settle';
  if (owner === 'registry') {
    if (local === undefined) return 'settle';
    return remote === undefined ? 'to-cms' : 'put-back-cms';
  }
  if (remote === undefined) return 'to-cms';
  return local === undefined ? 'to-registry' : 'put-back-registry';
}

interface Taken {
  readonly field: string;
  readonly owner: Side;
  readonly step: Step;
  readonly sides: Sides;
  readonly may: MayChange;
}

function take(
  merge: {
    readonly toRegistry: Map<string, unknown>;
    readonly toCms: Map<string, unknown>;
    readonly settled: string[];
    readonly conflicts: FieldConflict[];
  },
  { field, owner, step, sides, may }: Taken,
): void {
  const goesTo = targets[step];
  if (step === 'settle') merge.settled.push(field);
  if (goesTo === 'registry' && may.registry) merge.toRegistry.set(field, sides.remote);
  if (goesTo === 'cms' && may.cms && field !== bundlesField) merge.toCms.set(field, sides.local);
  const isPutBack = step === 'put-back-registry' || step === 'put-back-cms';
  if (step !== 'conflict' && !isPutBack) return;
  const isDone = goesTo !== undefined && may[goesTo];
  merge.conflicts.push({
    field,
    owner,
    resolution: isDone ? 'owner' : 'kept',
    registry: sides.local,
    cms: sides.remote,
  });
}

const targets: Readonly<Partial<Record<Step, Side>>> = {
  'to-registry': 'registry',
  'put-back-registry': 'registry',
  'to-cms': 'cms',
  'put-back-cms': 'cms',
};
