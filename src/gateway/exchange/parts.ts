import type { Tracer } from '../../kit/trace/trace.ts';
import type { AnswerCache } from '../cache/answer-cache.ts';
import type { Guardrail } from '../guardrails/guardrail.ts';
import type { Stations } from '../measure/stations.ts';
import type { GatewayMetrics } from '../metrics/gateway-metrics.ts';
import type { Purse } from '../money/purse.ts';
import type { RemoteLimits } from '../providers/remote-limits.ts';
import type { Router } from '../routing/plan.ts';
import type { HeaderBook } from '../upstream/request-headers.ts';
import type { Upstreams } from '../upstream/upstreams.ts';
import type { AnswerSources } from './answer-sources.ts';
import type { Attempts } from './attempts/attempts.ts';
import type { Dialects } from './outgoing.ts';
import type { SlowReaders } from './streams/slow-readers.ts';

/** All that an exchange works with. */
export interface ExchangeParts {
  readonly dialects: Dialects;
  readonly guardrails: readonly Guardrail[];
  readonly cache: AnswerCache;
  readonly sources: AnswerSources;
  readonly purse: Purse;
  readonly router: Router;
  readonly stations: Stations;
  readonly attempts: Attempts;
  readonly upstreams: Upstreams;
  readonly headers: HeaderBook;
  readonly remoteLimits: RemoteLimits;
  readonly slowReaders: SlowReaders;
  readonly metrics: GatewayMetrics;
  readonly tracer: Tracer;
  /** Finds out which models there are where one is missing; undefined when that is known. */
  readonly lookAgain: () => Promise<void> | undefined;
  /** From a request's arrival until no further provider is asked for it. */
  readonly deadlineMs: number;
}

/** What the cache did with an answer. */
export interface CacheMark {
  /** `SEMANTIC`: the answer to a question that means the same. */
  readonly state: 'HIT' | 'SEMANTIC' | 'MISS';
  readonly key: string;
  /** 0 for an answer that was just made. */
  readonly ageSeconds: number;
  /** Of the two questions, 0..1; absent where they are the same. */
  readonly similarity?: number | undefined;
}

/** Where an answer came from, as its headers say. */
export interface Provenance {
  readonly provider: string;
  readonly model: string;
  /** US dollars; unknown before a stream ends. */
  readonly cost?: number | undefined;
  /** How many times a provider was asked. */
  readonly attempts: number;
  readonly cache?: CacheMark | undefined;
}

/** Called once it is known who answers, before anything is sent. */
export type TellHead = (provenance: Provenance) => void;
