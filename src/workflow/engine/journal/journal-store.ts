import type { Database } from '../../../kit/database/database.ts';
import {
  startColumns,
  startColumnTypes,
  toStartRow,
  type StoredExecution,
} from './execution-row.ts';
import { nodeKey, type JournalEntry, type NodeEntry, type StatusChange } from './journal-row.ts';

export type EngineSql = Pick<Database, 'query'>;

/** All that one statement writes. */
export interface JournalWrite {
  readonly starts: readonly StoredExecution[];
  readonly entries: readonly JournalEntry[];
  /** No other statement can run meanwhile, as the database has this one connection. */
  readonly isAlone: boolean;
}

/**
 * Writes everything in one statement and answers the executions whose part of it was taken: a start
 * whose idempotency key is new, an entry whose epoch is the execution's. Rows of executions are locked
 * where others may write, so that whoever takes one over waits for this, or is seen by it.
 */
export async function writeJournal(sql: EngineSql, write: JournalWrite): Promise<Set<string>> {
  const parameters: string[] = [];
  const give = (rows: readonly object[]): string => {
    parameters.push(JSON.stringify(rows));
    return `json_to_recordset($${parameters.length}::json)`;
  };
  const parts: string[] = [];
  const answers: string[] = [];
  if (write.entries.length > 0) {
    parts.push(heldPart(write, give), ...entryParts(write.entries, give));
    answers.push('select id from held');
  }
  if (write.starts.length > 0) {
    parts.push(`started as (
      insert into workflow.executions (${startColumns})
      select ${startColumns} from ${give(inKeyOrder(write.starts).map(toStartRow))} as g(${startColumnTypes})
      on conflict do nothing returning id)`);
    answers.push('select id from started');
  }
  if (parts.length === 0) return new Set();
  const text = `with ${parts.join(', ')} ${answers.join(' union all ')}`;
  const rows = await sql.query<{ id: string }>(text, parameters);
  return new Set(rows.map(({ id }) => id));
}

/** Statements that wait for each other's keys do so in one order. */
function inKeyOrder(starts: readonly StoredExecution[]): StoredExecution[] {
  const keys = new Map(starts.map((start) => [start, keyOf(start)]));
  return starts.toSorted((one, other) => {
    const [key = '', otherKey = ''] = [keys.get(one), keys.get(other)];
    return Number(key > otherKey) - Number(key < otherKey);
  });
}

/** What is unique among executions, as one text. */
function keyOf({ ownerId, idempotencyKey = '' }: StoredExecution): string {
  return `${idempotencyKey}\n${ownerId}`;
}

type Give = (rows: readonly object[]) => string;

function heldPart({ entries, isAlone }: JournalWrite, give: Give): string {
  const epochs = new Map(entries.map(({ executionId, epoch }) => [executionId, epoch]));
  const rows = give([...epochs].map(([id, epoch]) => ({ id, epoch })));
  // Each by its index, whatever the planner takes the table for.
  return `held as (
    select e.id from ${rows} as g(id text, epoch integer)
    cross join lateral (
      select e.id, e.epoch from workflow.executions e where e.id = g.id and e.status = 'running'
      limit 1 ${isAlone ? '' : 'for share'}
    ) e
    where e.epoch = g.epoch)`;
}

function entryParts(entries: readonly JournalEntry[], give: Give): string[] {
  const nodes = nodeRows(entries);
  const events = eventRows(entries);
  const changes = entries.flatMap((entry) => (entry.change ? [changeRow(entry)] : []));
  const parts: string[] = [];
  if (nodes.length > 0) parts.push(nodesPart(give(nodes)));
  if (events.length > 0) {
    parts.push(`told as (
      insert into workflow.execution_events (execution_id, seq, body)
      select g.execution_id, g.seq, g.body
      from ${give(events)} as g(execution_id text, seq integer, body text)
      join held on held.id = g.execution_id
      on conflict do nothing)`);
  }
  if (changes.length > 0) parts.push(changesPart(give(changes)));
  return parts;
}

function nodesPart(rows: string): string {
  return `nodes as (
    insert into workflow.node_runs (execution_id, node_id, iteration, status, output, body, place)
    select g.execution_id, g.node_id, g.iteration, g.status, g.output, g.body, g.place
    from ${rows} as g(execution_id text, node_id text, iteration text, status text, output text,
      body text, place integer)
    join held on held.id = g.execution_id
    on conflict (execution_id, node_id, iteration) do update
    set status = excluded.status, output = excluded.output, body = excluded.body,
      place = excluded.place)`;
}

/** A run that parks while a signal comes is queued: of the two writes the later one sees the other. */
function changesPart(rows: string): string {
  return `changed as (
    update workflow.executions e set
      status = case when g.status = 'waiting' and e.signals <> g.signals then 'queued'
        else g.status end,
      replica = null, epoch = e.epoch + 1, wake_at = g.wake_at, completed_at = g.completed_at,
      tokens_used = g.tokens_used, cost = g.cost, outcome = g.outcome, tell_at = g.tell_at,
      caller_token = case when g.completed_at is null then e.caller_token end
    from ${rows} as g(id text, status text, tokens_used integer, cost double precision,
      wake_at timestamptz, signals integer, completed_at timestamptz, outcome text,
      tell_at timestamptz)
    join held on held.id = g.id
    where e.id = g.id)`;
}

/** A node that moved twice since the last write is written as it is now. */
function nodeRows(entries: readonly JournalEntry[]): object[] {
  const latest = new Map<string, object>();
  for (const { executionId, nodes } of entries) {
    for (const node of nodes) {
      const key = `${executionId}\n${nodeKey(node.nodeId, node.iteration)}`;
      latest.set(key, nodeRow(executionId, node));
    }
  }
  return [...latest.values()];
}

function nodeRow(executionId: string, node: NodeEntry) {
  return {
    execution_id: executionId,
    node_id: node.nodeId,
    iteration: node.iteration,
    status: node.status,
    output: node.output,
    body: JSON.stringify(node.body),
    place: node.body.place,
  };
}

/** One row for all that happened to an execution since the last write; outputs stand with the nodes. */
function eventRows(entries: readonly JournalEntry[]): object[] {
  const byExecution = new Map<string, { seq: number; events: object[] }>();
  for (const { executionId, events } of entries) {
    if (events.length === 0) continue;
    const row = byExecution.get(executionId) ?? { seq: 0, events: [] };
    for (const { executionId: _id, output: _output, result: _result, ...event } of events) {
      row.events.push(event);
      row.seq = event.seq;
    }
    byExecution.set(executionId, row);
  }
  return [...byExecution].map(([executionId, { seq, events }]) => ({
    execution_id: executionId,
    seq,
    body: JSON.stringify(events),
  }));
}

function changeRow({ executionId, change }: JournalEntry) {
  // Asked for entries that have one only.
  const { status, tokensUsed, cost, signals, ...rest } = change as StatusChange;
  return {
    id: executionId,
    status,
    tokens_used: tokensUsed,
    cost,
    signals,
    wake_at: toDate(rest.wakeAtMs),
    completed_at: toDate(rest.completedAtMs),
    outcome: rest.outcome && JSON.stringify(rest.outcome),
    tell_at: toDate(rest.tellAtMs),
  };
}

function toDate(ms: number | undefined): Date | undefined {
  return ms === undefined ? undefined : new Date(ms);
}
