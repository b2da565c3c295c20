import type { Static } from 'typebox';
import type { meshContract } from '../../src/mesh/contract.ts';
import type { Gap } from '../api/follow.ts';

/** Something that happened on the mesh, as its stream tells it. */
export type ActivityEvent = Static<(typeof meshContract)['sockets']['activity']['event']>;

/** A line of the log: an event, or the place where some are missing. */
export type LogLine = ActivityEvent | (Gap & { readonly type: 'gap' });

const linesMax = 1_000;

/** The types of events that there are. */
export const activityTypes = [
  'agent-registered',
  'agent-status',
  'agent-deregistered',
  'task-executed',
  'task-failed',
  'task-cancelled',
  'swarm-created',
  'vote-cast',
  'vote-conflict',
  'swarm-decided',
  'capability-attested',
  'attestation-revoked',
  'certificate-issued',
] as const;

/** A log with one more line, the newest first; the oldest make room. An event that is there already changes nothing. */
export function addLine(log: readonly LogLine[], line: LogLine): readonly LogLine[] {
  if (isEvent(line) && log.some((there) => isEvent(there) && there.eventId === line.eventId)) {
    return log;
  }
  return [line, ...log].slice(0, linesMax);
}

export function isEvent(line: LogLine): line is ActivityEvent {
  return line.type !== 'gap';
}

/** A key that no other line of a log has. */
export function keyOfLine(line: LogLine): string {
  return isEvent(line) ? line.eventId : `gap ${line.from} ${line.to}`;
}

/** Why some events are missing, in a sentence. */
export function describeGap({ from, to, isRestart }: Gap): string {
  if (isRestart) return 'The mesh began to count anew: what it told meanwhile may be missing.';
  if (from === to) return `Event ${from} is missing: it came faster than it could be read.`;
  return `Events ${from} to ${to} are missing: they are kept no more, or came faster than they could be read.`;
}

/** What an event tells besides its type and agent, in few words. */
export function describeEvent({ type, data: told }: ActivityEvent): string {
  const data: Readonly<Record<string, unknown>> = { ...told };
  const text = (name: string) => {
    const value = data[name];
    return typeof value === 'string' || typeof value === 'number' ? String(value) : '';
  };
  const words = {
    'agent-status': () => `${text('previous')} → ${text('status')}`,
    'agent-registered': () => listOf(data['capabilities']),
    'task-executed': () => `in ${text('duration')} ms`,
    'task-failed': () => `after ${text('duration')} ms`,
    'swarm-created': () => text('name'),
    'vote-cast': () => text('vote'),
    'vote-conflict': () => `${text('first')}, then ${text('second')}`,
    'swarm-decided': () => text('finalDecision') || text('status'),
    'capability-attested': () => text('capability'),
    'certificate-issued': () => `serial ${text('serial')}`,
  }[type];
  return words?.().trim() ?? '';
}

function listOf(value: unknown): string {
  return Array.isArray(value) ? value.join(', ') : '';
}
