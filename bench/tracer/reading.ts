import { setTimeout as sleep } from 'node:timers/promises';
import type { TracerClient } from './client.ts';
import { bodiesOf } from './intake.ts';
import type { Slice } from './exports.ts';
import type { TracerHost } from './host.ts';

/** Milliseconds that answers took, by what was asked. */
export type Answers = ReadonlyMap<string, readonly number[]>;

/** Milliseconds that the other service's answers took. */
interface Neighbour {
  readonly memoryMs: number[];
  readonly databaseMs: number[];
}

export interface ReadingFigures {
  /** While spans come. */
  readonly answers: Answers;
  /** While nothing else happens. */
  readonly quietAnswers: Answers;
  readonly neighbour: Neighbour;
  readonly delayP99Ms: number;
  /** Spans that were to come per second. */
  readonly aimedPerSecond: number;
  /** Spans acknowledged per second meanwhile, by the clock. */
  readonly perSecond: number;
}

export interface ReadingOptions {
  readonly host: TracerHost;
  readonly client: TracerClient;
  /** What comes meanwhile, and at which speed. */
  readonly slice: Slice;
  readonly spansPerSecond: number;
  /** Traces to read. */
  readonly traceIds: readonly string[];
}

/**
 * One reader asks for everything in turn, with a pause after each answer, and two ask the neighbour,
 * until all spans are taken. Before that the reader asks while nothing comes.
 */
export async function measureReading(options: ReadingOptions): Promise<ReadingFigures> {
  const { host, client, slice, spansPerSecond } = options;
  const quietAnswers = new Map<string, number[]>();
  for (let turn = 0; turn < quietTurns; turn += 1) await askAll(options, turn, quietAnswers);
  const answers = new Map<string, number[]>();
  const neighbour: Neighbour = { memoryMs: [], databaseMs: [] };
  await host.watchDelay();
  const over = { isOver: false };
  const reading = readOn(options, { over, answers });
  const asking = askOn(client, { over, neighbour });
  const bodies = bodiesOf(slice, true);
  const seconds = await client
    .sendAll(bodies, { isGzip: true, spansPerSecond })
    .finally(() => (over.isOver = true));
  await Promise.all([reading, asking]);
  const { delayP99Ms = Number.NaN } = await host.account();
  return {
    answers,
    quietAnswers,
    neighbour,
    delayP99Ms,
    aimedPerSecond: spansPerSecond,
    perSecond: slice.spanCount / seconds,
  };
}

interface Until {
  readonly isOver: boolean;
}

async function readOn(
  options: ReadingOptions,
  { over, answers }: { readonly over: Until; readonly answers: Map<string, number[]> },
): Promise<void> {
  for (let turn = 0; !over.isOver; turn += 1) await askAll(options, turn, answers);
}

const betweenMs = 50;
const quietTurns = 10;

async function askOn(
  client: TracerClient,
  { over, neighbour }: { readonly over: Until; readonly neighbour: Neighbour },
): Promise<void> {
  const ask = async (where: 'memory' | 'database') => {
    const startedAt = performance.now();
    await client.askNeighbour(where);
    neighbour[`${where}Ms`].push(performance.now() - startedAt);
  };
  const askAgain = async (where: 'memory' | 'database') => {
    for (; !over.isOver; await sleep(betweenMs)) await ask(where);
  };
  await Promise.all([askAgain('memory'), askAgain('database')]);
}

/** What is asked, by its name in the figures. */
export const questions = {
  list: 'list',
  byAgent: 'list of an agent',
  failed: 'list of failed traces',
  failedByAgent: 'list of failed traces of an agent',
  get: 'get',
  byOperation: 'aggregate of 24 h by operation',
  agents: 'aggregate of 24 h by agent',
  dependencies: 'dependencies of 24 h',
} as const;

async function askAll(
  { client, traceIds }: ReadingOptions,
  turn: number,
  answers: Map<string, number[]>,
): Promise<void> {
  const agent = `agent-${String((turn * 7) % 50).padStart(3, '0')}`;
  const traceId = traceIds[(turn * 31) % traceIds.length] ?? '';
  const paths = {
    list: '/api/v1/traces',
    byAgent: `/api/v1/traces?agentId=${agent}`,
    failed: '/api/v1/traces?status=error',
    failedByAgent: `/api/v1/traces?status=error&agentId=${agent}`,
    get: `/api/v1/traces/${traceId}`,
    byOperation: '/api/v1/metrics/aggregate?timeRange=24h&groupBy=operation',
    agents: '/api/v1/metrics/aggregate?timeRange=24h&groupBy=agent',
    dependencies: '/api/v1/dependencies?timeRange=24h',
  } as const satisfies Record<keyof typeof questions, string>;
  for (const [key, path] of Object.entries(paths)) {
    const startedAt = performance.now();
    const answer = await client.get<Answer>(path);
    const ms = performance.now() - startedAt;
    requireContent(path, answer);
    const name = questions[key as keyof typeof questions];
    answers.set(name, [...(answers.get(name) ?? []), ms]);
    await sleep(betweenMs);
  }
}

interface Answer {
  readonly traces?: readonly unknown[];
  readonly spans?: readonly unknown[];
  readonly aggregations?: readonly unknown[];
  readonly edges?: readonly unknown[];
}

/** An empty answer is fast and worth nothing. */
function requireContent(path: string, answer: Answer): void {
  const list = answer.traces ?? answer.spans ?? answer.aggregations ?? answer.edges ?? [];
  const mayBeEmpty = path.includes('status=error&agentId');
  if (list.length === 0 && !mayBeEmpty) throw new Error(`GET ${path} answered nothing`);
}
