import { Command, InvalidArgumentError } from 'commander';
import { addCommand, show } from '../operator/administration.ts';
import type { AdministrationOptions } from '../operator/work.ts';
import {
  printFacts,
  printJsonLine,
  printLine,
  printRemark,
  printTable,
  type Column,
} from '../output.ts';
import { parseCount, readItems, remarkOnRest } from '../pages.ts';
import type { TraceDetail } from '../../tracer/schemas/trace-answers.ts';
import type { TraceSummaryAnswer } from '../../tracer/schemas/traces.ts';
import { timeOption } from '../time-option.ts';
import { eventLine, type StreamEvent } from './event-line.ts';
import type { TraceAccess } from './trace-access.ts';

interface ListOptions extends AdministrationOptions {
  readonly limit: number;
  readonly agent?: string;
  readonly service?: string;
  readonly status?: Status;
  readonly minDuration?: number;
  readonly since?: string;
  readonly until?: string;
}

interface TailOptions extends AdministrationOptions {
  readonly agent?: readonly string[];
  readonly status?: readonly string[];
  readonly minDuration?: number;
}

const statuses = ['success', 'error', 'timeout'] as const;
type Status = (typeof statuses)[number];

/** `ennead traces …` */
export function tracesCommand(): Command {
  const group = new Command('traces').description('see what ran, and where its time went');
  addCommand(group, 'list', '--status error --since 2026-01-31T08:00Z')
    .description('list traces, the newest first')
    .option('--agent <agent>', 'only traces that this agent took part in')
    .option('--status <status>', `only ${statuses.join(', ')}`, parseStatus)
    .option('--service <service>', 'only traces whose root is of this service')
    .option('--min-duration <ms>', 'only traces that took at least so long', parseCount)
    .option('--since <time>', 'only traces that began then or later, ISO 8601', timeOption)
    .option('--until <time>', 'only traces that began then or earlier, ISO 8601', timeOption)
    .option('--limit <count>', 'at most so many traces', parseCount, 20)
    .action((options: ListOptions) => work(options, (access) => list(access, options)));
  addCommand(group, 'show <id>', '0af7651916cd43dd8448eb211c80319c')
    .description('show a trace as a waterfall; its critical path is drawn full and marked *')
    .action((id: string, options: AdministrationOptions) =>
      work(options, async ({ client }) => {
        const detail = await client.getTrace({ params: { traceId: id }, query: {} });
        const { drawWaterfall } = await import('./waterfall.ts');
        show(options, detail, () => print(detail, drawWaterfall(detail, canvas())));
      }),
    );
  addCommand(group, 'tail', '--status error --min-duration 500')
    .description('print traces as they complete, until interrupted')
    .option('--agent <agent...>', 'only traces that one of these agents took part in')
    .option('--status <status...>', `only of these: ${statuses.join(', ')}`, parseStatuses)
    .option('--min-duration <ms>', 'only traces that took at least so long', parseCount)
    .action((options: TailOptions) => work(options, (access) => tail(access, options)));
  return group;
}

// What talks to the suite is loaded by the command that needs it, so that help comes at once.

async function work(
  options: AdministrationOptions,
  task: (access: TraceAccess) => Promise<void>,
): Promise<void> {
  const { openTraces } = await import('./trace-access.ts');
  await using access = await openTraces(options);
  try {
    await task(access);
  } catch (error) {
    throw access.explain(error);
  }
}

async function list({ client }: TraceAccess, options: ListOptions): Promise<void> {
  const filters = filtersOf(options);
  const listed = await readItems(options.limit, async (page) => {
    const { traces, total } = await client.listTraces({ query: { ...page, ...filters } });
    return { items: traces, total };
  });
  show(options, { traces: listed.items, ...listed.rest }, () => {
    printTable(listed.items, columns);
    remarkOnRest(listed);
  });
}

function filtersOf({ agent, service, status, since, until, minDuration }: ListOptions) {
  return {
    ...(agent === undefined ? {} : { agentId: agent }),
    ...(service === undefined ? {} : { service }),
    ...(status === undefined ? {} : { status }),
    ...(since === undefined ? {} : { startTime: since }),
    ...(until === undefined ? {} : { endTime: until }),
    ...(minDuration === undefined ? {} : { minDuration }),
  };
}

async function tail(access: TraceAccess, options: TailOptions): Promise<void> {
  const { agent: agents, status, minDuration } = options;
  const events = await access.tail({
    ...(agents === undefined ? {} : { agents }),
    ...(status === undefined ? {} : { status }),
    ...(minDuration === undefined ? {} : { minDuration }),
  });
  for await (const event of events) {
    if (options.json) printJsonLine(event);
    else printEvent(event as StreamEvent);
  }
}

function printEvent(event: StreamEvent): void {
  const line = eventLine(event);
  if (line !== undefined) printLine(line);
  else if (event.type === 'gap')
    printRemark('some traces were left out: they came faster than printed');
}

function print(detail: TraceDetail, lines: readonly string[]): void {
  const { metrics, genAi, error, totalSpans, spans, isComplete } = detail;
  const { networkTime, processingTime, overhead } = metrics;
  printFacts({
    trace: detail.traceId,
    name: detail.name,
    started: detail.startTime,
    duration: `${detail.duration} ms: network ${networkTime}, processing ${processingTime}, overhead ${overhead}`,
    status: isComplete ? detail.status : `${detail.status}, not complete yet`,
    error: error && `${error.code}: ${error.message} (span ${error.spanId})`,
    agents: detail.agents.join(', '),
    spans: spans.length < totalSpans ? `${spans.length} of ${totalSpans}` : totalSpans,
    tokens: genAi && `${genAi.inputTokens} in, ${genAi.outputTokens} out`,
    cost: genAi && genAi.costUsd > 0 ? `$${genAi.costUsd.toFixed(4)}` : undefined,
    models: genAi?.models.join(', '),
  });
  // The lines hold colours, which `printLine` would take out; what others named is plain in them.
  process.stdout.write(`\n${lines.join('\n')}\n`);
}

function canvas() {
  const { stdout } = process;
  if (!stdout.isTTY) return { columns: 100, hasColours: false };
  return { columns: stdout.columns, hasColours: stdout.hasColors() };
}

const agentsShown = 3;

/** The root's agent comes first, so the rest can be left out. */
function shorten(agents: readonly string[]): string {
  const more = agents.length - agentsShown;
  const shown = agents.slice(0, agentsShown).join(', ');
  return more > 0 ? `${shown} +${more}` : shown;
}

const columns: readonly Column<TraceSummaryAnswer>[] = [
  { title: 'TRACE', of: ({ traceId }) => traceId },
  { title: 'STARTED', of: ({ startTime }) => startTime },
  { title: 'DURATION', of: ({ duration }) => `${duration} ms` },
  { title: 'STATUS', of: ({ status }) => status },
  { title: 'SPANS', of: ({ spans }) => spans },
  { title: 'AGENTS', of: ({ agents }) => shorten(agents) },
  { title: 'NAME', of: ({ name }) => name },
];

function parseStatus(text: string): Status {
  const status = statuses.find((one) => one === text);
  if (status) return status;
  throw new InvalidArgumentError(`It must be one of ${statuses.join(', ')}.`);
}

function parseStatuses(text: string, before: readonly Status[] = []): readonly Status[] {
  return [...before, parseStatus(text)];
}
