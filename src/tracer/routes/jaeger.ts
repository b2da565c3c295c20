import { Fault } from '../../kit/errors.ts';
import type { Answer, Call, Handler } from '../../kit/http/call.ts';
import type { Route } from '../../kit/contract.ts';
import { WrittenJson } from '../../kit/answers/written-json.ts';
import {
  lastOf,
  readJaegerQuery,
  readMicroseconds,
  readTraceId,
  type JaegerQuery,
} from '../interop/jaeger-query.ts';
import { searchTraces, type TraceFilter } from '../interop/jaeger-search.ts';
import type { JaegerInputs } from '../interop/views.ts';
import type { interopRoutes as routes } from '../schemas/interop.ts';

type Routes = typeof routes;
type Names = {
  [K in keyof Routes]: Routes[K]['summary'] extends `Jaeger: ${string}` ? K : never;
}[keyof Routes];

export type JaegerHandlers = { readonly [K in Names]: Handler<Routes[K]> };

/** What is asked of the rest of the tracer. */
export interface JaegerParts {
  /** What a view says of a trace, as JSON; throws `not_found`. */
  view<Name extends keyof JaegerInputs>(
    traceId: string,
    name: Name,
    input: JaegerInputs[Name],
  ): Promise<Buffer>;
  /** See `SearchSource.findTraces`. */
  findTraces(filter: TraceFilter): Promise<readonly string[]>;
  /** The names of services that were seen, within the time that is kept. */
  services(): Promise<readonly string[]>;
  operations(service: string): Promise<readonly Operation[]>;
  /** Who called whom how often between two times, in microseconds. */
  dependencies(range: Range): Promise<readonly Dependency[]>;
  /** Milliseconds since the epoch. */
  now(): number;
}

export interface Operation {
  readonly name: string;
  /** One of the names of `spanKinds`. */
  readonly kind: string;
}

export interface Range {
  readonly fromUs: number;
  readonly toUs: number;
}

export interface Dependency {
  readonly parent: string;
  readonly child: string;
  readonly callCount: number;
}

const dependencyMsDefault = 24 * 3_600_000;

/** The edge of Jaeger's query API, as Grafana's data source and Jaeger UI ask it. */
export function jaegerHandlers(parts: JaegerParts): JaegerHandlers {
  return {
    listJaegerServices: inJaegerWords(async () => listing((await parts.services()).toSorted())),
    listJaegerServiceOperations: inJaegerWords(async ({ params: { service } }) => {
      const names = (await parts.operations(service)).map(({ name }) => name);
      return listing([...new Set(names)].toSorted());
    }),
    listJaegerOperations: inJaegerWords(async ({ query }) => {
      const service = lastOf(query.service);
      if (service === undefined) throw new Fault('invalid', 'service must be named');
      return listing(await operationsOf(parts, service, lastOf(query.spanKind)));
    }),
    searchJaegerTraces: inJaegerWords(async ({ query, signal }) => {
      const read = readJaegerQuery(query, parts.now());
      return read.traceIds.length > 0 ? named(parts, read) : found(parts, read, signal);
    }),
    readJaegerTrace: inJaegerWords(async ({ params: { traceId } }) =>
      written([await parts.view(readTraceId(traceId), 'jaeger', undefined)], {}),
    ),
    listJaegerDependencies: inJaegerWords(async ({ query }) => {
      const service = lastOf(query.service);
      const all = await parts.dependencies(rangeOf(query, parts.now()));
      const isAsked = ({ parent, child }: Dependency) =>
        service === undefined || parent === service || child === service;
      return listing(all.filter(isAsked));
    }),
  };
}

async function operationsOf(parts: JaegerParts, service: string, kind: string | undefined) {
  const operations = await parts.operations(service);
  return operations
    .filter((operation) => kind === undefined || operation.kind === kind)
    .map(({ name, kind: spanKind }) => ({ name, spanKind }))
    .toSorted((a, b) => (a.name < b.name ? -1 : 1));
}

async function found(
  parts: JaegerParts,
  query: JaegerQuery,
  signal: AbortSignal,
): Promise<WrittenJson> {
  const source = {
    findTraces: (filter: TraceFilter) => parts.findTraces(filter),
    match: (traceId: string, criteria: JaegerQuery['criteria']) =>
      parts.view(traceId, 'jaeger-match', criteria),
  };
  const { traces, isTruncated } = await searchTraces(source, query, signal);
  return written(traces, { limit: query.limit, ...(isTruncated ? { truncated: true } : {}) });
}

/** Traces by their ids; one that is not there is an error beside the others. */
async function named(parts: JaegerParts, { traceIds, limit }: JaegerQuery): Promise<WrittenJson> {
  const traces: Buffer[] = [];
  const errors: object[] = [];
  for (const traceID of traceIds.slice(0, limitNamed)) {
    try {
      traces.push(await parts.view(traceID, 'jaeger', undefined));
    } catch (error) {
      if (!(error instanceof Fault) || error.code !== 'not_found') throw error;
      errors.push({ code: 404, msg: error.message, traceID });
    }
  }
  return written(traces, { limit, errors: errors.length > 0 ? errors : null });
}

const limitNamed = 100;

function rangeOf(query: Call<Routes['listJaegerDependencies']>['query'], now: number): Range {
  const end = readMicroseconds('endTs', lastOf(query.endTs)) ?? now;
  const lookback = readMicroseconds('lookback', lastOf(query.lookback)) ?? dependencyMsDefault;
  return { fromUs: Math.max(0, end - lookback) * 1000, toUs: end * 1000 };
}

function listing<Item>(data: readonly Item[]) {
  return { data: [...data], total: data.length, limit: 0, offset: 0, errors: null };
}

/** An answer of traces that are written already. */
function written(traces: readonly Buffer[], rest: object): WrittenJson {
  const tail = JSON.stringify({ total: traces.length, limit: 0, offset: 0, errors: null, ...rest });
  const comma = Buffer.from(',');
  const list = traces.flatMap((trace, index) => (index === 0 ? [trace] : [comma, trace]));
  const end = Buffer.from(`],${tail.slice(1)}`);
  return new WrittenJson(Buffer.concat([Buffer.from('{"data":['), ...list, end]));
}

/** Words the refusals that a caller can change as Jaeger does: `errors [{code, msg}]`. */
function inJaegerWords<R extends Route>(handle: (call: Call<R>) => Promise<Answer<R>>): Handler<R> {
  return async (call) => {
    try {
      return await handle(call);
    } catch (error) {
      const { status, message } = Fault.from(error);
      if (status >= 500) throw error;
      const errors = [{ code: status, msg: message }];
      const answer = { data: null, total: 0, limit: 0, offset: 0, errors };
      return Response.json(answer, { status });
    }
  };
}
