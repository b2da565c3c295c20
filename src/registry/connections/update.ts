import { isDeepStrictEqual } from 'node:util';
import { Fault } from '../../kit/errors.ts';
import type {
  Approval,
  Connection,
  ConnectionHealth,
  ConnectionStatus,
  RemoteEndpoint,
  StdioEndpoint,
} from './connection.ts';
import { findUnseen, type AgreedCommand } from './agreed-command.ts';
import { isSameServer, restoreHidden } from './endpoint-values.ts';
import type { HistoryNote } from './history.ts';
import {
  readCapabilities,
  readEndpoint,
  readHealthCheck,
  readMetadata,
  readName,
  type ConnectionPatch,
  type EndpointRules,
} from './request.ts';

/** Who changes a connection, and when. */
export interface Change {
  readonly subject: string;
  /** Holds `registry:execute`: what they change of a command is approved. */
  readonly mayExecute: boolean;
  readonly atMs: number;
}

/** What a connection is to become; the same object where nothing changes. */
export interface Update {
  readonly after: Connection;
  readonly notes: readonly HistoryNote[];
  /** What was learned of the server holds no longer. */
  readonly isForgotten: boolean;
}

/** The health of a connection that nobody has looked at yet. */
export const unknownHealth: ConnectionHealth = {
  status: 'initializing',
  checksPerformed: 0,
  failedChecks: 0,
  failuresInRow: 0,
};

/** What a connection becomes by a patch; throws `invalid` or `forbidden` as a registration does. */
export function planUpdate(
  before: Connection,
  patch: ConnectionPatch,
  { change, rules }: { readonly change: Change; readonly rules: EndpointRules },
): Update {
  const { after: patched, isForgotten } = withEndpoint(withFields(before, patch), {
    patch,
    change,
    rules,
  });
  const after = withStatus(patched, patch.status, change);
  const notes = listNotes(before, after, change);
  return notes.length === 0 ? unchanged(before) : { after, notes, isForgotten };
}

/** What a stdio connection becomes when somebody agrees to its command; throws `conflict` otherwise. */
export function planApproval(
  before: Connection,
  agreed: AgreedCommand,
  { subject, atMs }: Change,
): Update {
  const { id: connectionId } = before;
  if (before.protocol !== 'stdio') {
    throw new Fault('conflict', 'only a stdio connection has a command to approve', {
      reason: 'nothing_to_approve',
      detail: { connectionId },
    });
  }
  const changed = findUnseen(agreed, before.endpoint);
  if (changed.length > 0) {
    const message = `the command is another one by now than was agreed to: ${changed.join(', ')}`;
    throw new Fault('conflict', message, {
      reason: 'command_changed',
      detail: { connectionId, changed },
    });
  }
  if (before.approval) return unchanged(before);
  const approval: Approval = { approvedBy: subject, approvedAtMs: atMs };
  const note = { id: connectionId, atMs, by: subject, change: 'approved' };
  return { after: { ...before, approval }, notes: [note], isForgotten: false };
}

function unchanged(before: Connection): Update {
  return { after: before, notes: [], isForgotten: false };
}

function withFields(before: Connection, patch: ConnectionPatch): Connection {
  const { name, capabilities, metadata, healthCheck } = patch;
  return {
    ...before,
    ...(name === undefined ? {} : { name: readName(name) }),
    ...(capabilities === undefined ? {} : { declared: readCapabilities(capabilities) }),
    ...(metadata === undefined ? {} : { metadata: readMetadata(merge(before.metadata, metadata)) }),
    ...(healthCheck === undefined
      ? {}
      : { healthCheck: readHealthCheck(healthCheck, before.healthCheck) }),
  };
}

function merge(
  before: Readonly<Record<string, unknown>>,
  patch: Readonly<Record<string, unknown>>,
): Readonly<Record<string, unknown>> {
  const merged = Object.entries({ ...before, ...patch }).filter(([, value]) => value !== null);
  return Object.fromEntries(merged);
}

interface EndpointChange {
  readonly patch: ConnectionPatch;
  readonly change: Change;
  readonly rules: EndpointRules;
}

function withEndpoint(
  before: Connection,
  { patch, change, rules }: EndpointChange,
): { readonly after: Connection; readonly isForgotten: boolean } {
  if (!patch.endpoint) return { after: before, isForgotten: false };
  const given = readEndpoint(patch.endpoint, before.protocol, rules);
  const endpoint = restoreHidden(given, before.endpoint);
  if (isDeepStrictEqual(endpoint, before.endpoint)) return { after: before, isForgotten: false };
  const isForgotten = !isSameServer(endpoint, before.endpoint);
  const { offer, server, pins, ...kept } = before;
  const learned = {
    ...(offer ? { offer } : {}),
    ...(server ? { server } : {}),
    ...(pins ? { pins } : {}),
  };
  const base = {
    ...kept,
    ...(isForgotten ? { quarantined: [] } : learned),
    health: unknownHealth,
  };
  return { after: replaceEndpoint(base, endpoint, change), isForgotten };
}

function replaceEndpoint(
  before: Connection,
  endpoint: StdioEndpoint | RemoteEndpoint,
  { subject, mayExecute, atMs }: Change,
): Connection {
  if (before.protocol === 'stdio') {
    if (!('command' in endpoint)) return before;
    const { approval: _revoked, ...kept } = before;
    const approval = mayExecute ? { approval: { approvedBy: subject, approvedAtMs: atMs } } : {};
    return { ...kept, ...approval, endpoint };
  }
  return 'url' in endpoint ? { ...before, endpoint } : before;
}

function withStatus(
  before: Connection,
  status: ConnectionStatus | undefined,
  { atMs }: Change,
): Connection {
  if (status === undefined || status === before.status) return before;
  if (status === 'disconnected') return { ...before, status, disconnectedAtMs: atMs };
  const { disconnectedAtMs, ...kept } = before;
  return {
    ...kept,
    status,
    // It would be idle again at once.
    ...(status === 'active' ? { lastActiveAtMs: atMs } : {}),
    // Nobody has looked at it since.
    ...(disconnectedAtMs === undefined ? {} : { health: unknownHealth }),
  };
}

const plainFields = ['name', 'declared', 'metadata', 'healthCheck'] as const;
const fieldNames = { declared: 'capabilities' } as const;

/** Empty when nothing has changed. */
function listNotes(before: Connection, after: Connection, change: Change): HistoryNote[] {
  const { id } = before;
  const { atMs, subject: by } = change;
  const notes: HistoryNote[] = [];
  const fields = plainFields
    .filter((field) => !isDeepStrictEqual(before[field], after[field]))
    .map((field) => (field === 'declared' ? fieldNames.declared : field));
  if (fields.length > 0) notes.push({ id, atMs, by, change: 'updated', detail: { fields } });
  if (before.endpoint !== after.endpoint) {
    const detail = {
      fields: changedMembers(before.endpoint, after.endpoint),
      ...(after.protocol === 'stdio' ? { approved: after.approval !== undefined } : {}),
    };
    notes.push({ id, atMs, by, change: 'endpoint', detail });
  }
  if (before.status !== after.status) {
    const name = after.status === 'disconnected' ? 'disconnected' : 'status';
    notes.push({ id, atMs, by, change: name, before: before.status, after: after.status });
  }
  return notes;
}

function changedMembers(before: object, after: object): string[] {
  const names = [...new Set([...Object.keys(before), ...Object.keys(after)])];
  return names.filter(
    (name) => !isDeepStrictEqual(Reflect.get(before, name), Reflect.get(after, name)),
  );
}
