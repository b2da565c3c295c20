import { LRUCache } from 'lru-cache';
import type { Client } from '../../kit/client.ts';
import type { Log } from '../../kit/log.ts';
import type { tracerContract } from '../../tracer/contract.ts';
import type { Caller } from '../caller.ts';
import { findAgent, type AgentReader, type MeshAgent } from './agent-finder.ts';
import type { AgentHealth, AgentHealths } from './orchestration.ts';

/** What knows the traces, as this service itself. */
export type MetricsReader = Pick<
  Client<typeof tracerContract>,
  'getTrace' | 'listTraces' | 'usageMetrics'
>;

export interface AgentHealthsOptions {
  /** Reads the mesh with the caller's rights. */
  readonly readerOf: (caller: Pick<Caller, 'credential'>) => Pick<AgentReader, 'getAgent'>;
  readonly tracer: MetricsReader;
  readonly log: Log;
  /** How long an answer of the tracer serves all who ask; 5,000 unless told. */
  readonly keptMs?: number;
}

type Span = Awaited<ReturnType<MetricsReader['getTrace']>>['spans'][number];
type Measured = Omit<AgentHealth, 'status' | 'uptime'>;

const dayMinutes = 24 * 60;
const keptMsDefault = 5_000;
const agentsMax = 1_000;
const tracerMs = 3_000;
/** Of the newest traces: in which the agent's own part is looked at. */
const sampleSize = 20;
const spansMax = 2_000;
const usageKey = 'all';

/**
 * How agents do: status and uptime from the mesh; from the tracer how often in the last day an agent had a
 * part in a trace, how long its part took and whether it failed in the newest of them, whatever else
 * happened there, and the tokens of its calls of models. What nobody measured, or what the tracer does not
 * answer in time, is 0.
 */
export class MeasuredAgentHealths implements AgentHealths {
  readonly #options: AgentHealthsOptions;
  readonly #traces: LRUCache<string, Promise<Measured>>;
  readonly #tokens: LRUCache<string, Promise<ReadonlyMap<string, number>>>;

  constructor(options: AgentHealthsOptions) {
    const { keptMs: ttl = keptMsDefault } = options;
    this.#options = options;
    this.#traces = new LRUCache({ max: agentsMax, ttl });
    this.#tokens = new LRUCache({ max: 1, ttl });
  }

  async find(caller: Caller, agentId: string): Promise<AgentHealth> {
    const agent = await findAgent(this.#options.readerOf(caller), agentId);
    const { requestCount, errorRate, metrics } = await this.#measured(agentId);
    return { status: agent.status, uptime: uptimeOf(agent), requestCount, errorRate, metrics };
  }

  #measured(agentId: string): Promise<Measured> {
    const measured = this.#traces.get(agentId) ?? this.#measure(agentId);
    if (!this.#traces.has(agentId)) this.#traces.set(agentId, measured);
    return measured;
  }

  async #measure(agentId: string): Promise<Measured> {
    const { tracer, log } = this.#options;
    const startTime = new Date(Date.now() - dayMinutes * 60_000).toISOString();
    const query = { agentId, startTime, limit: sampleSize };
    try {
      const [{ traces, total }, tokens] = await Promise.all([
        tracer.listTraces({ query }, options),
        this.#usage(),
      ]);
      const parts = (
        await Promise.all(traces.map((trace) => this.#partsIn(trace, agentId)))
      ).flat();
      // An agent may have several parts in a trace: what is not looked at is taken to be like the newest.
      const requestCount = Math.round(total * (parts.length / Math.max(1, traces.length)));
      return {
        requestCount,
        errorRate: meanOf(parts.map(({ status }) => (status === 'success' ? 0 : 1))),
        metrics: {
          latency: meanOf(parts.map(({ durationUs }) => durationUs / 1_000)),
          throughput: requestCount / dayMinutes,
          tokenUsage: tokens.get(agentId) ?? 0,
        },
      };
    } catch (err) {
      log.debug({ err }, 'the tracer does not say how agents do');
      return unmeasured;
    }
  }

  /** The agent's spans, each without those that it is made of. */
  async #partsIn({ traceId }: { readonly traceId: string }, agentId: string): Promise<Span[]> {
    const request = { params: { traceId }, query: { spanLimit: spansMax } };
    const { spans } = await this.#options.tracer.getTrace(request, options);
    const own = spans.filter(({ agent }) => agent === agentId);
    const ids = new Set(own.map(({ spanId }) => spanId));
    return own.filter(({ parentSpanId = '' }) => !ids.has(parentSpanId));
  }

  #usage(): Promise<ReadonlyMap<string, number>> {
    const usage = this.#tokens.get(usageKey) ?? this.#readUsage();
    if (!this.#tokens.has(usageKey)) this.#tokens.set(usageKey, usage);
    return usage;
  }

  async #readUsage(): Promise<ReadonlyMap<string, number>> {
    const query = { timeRange: '24h' as const, groupBy: 'agent' as const };
    const { usage } = await this.#options.tracer.usageMetrics({ query }, options);
    return new Map(
      usage.map(({ key, inputTokens, outputTokens }) => [key, inputTokens + outputTokens]),
    );
  }
}

const options = { timeoutMs: tracerMs, trace: 'none' as const };
const unmeasured: Measured = {
  requestCount: 0,
  errorRate: 0,
  metrics: { latency: 0, throughput: 0, tokenUsage: 0 },
};

function meanOf(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / Math.max(1, values.length);
}

/** Since its last registration, unless it is away. */
function uptimeOf({ status, registeredAt }: MeshAgent): number {
  if (status === 'offline') return 0;
  return Math.max(0, Math.floor((Date.now() - Date.parse(registeredAt)) / 1000));
}
