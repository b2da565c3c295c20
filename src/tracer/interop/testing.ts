import { readdirSync, readFileSync } from 'node:fs';
import { Fault } from '../../kit/errors.ts';
import { readSpans } from '../otlp/read.ts';
import { scanSpans } from '../otlp/scan.ts';
import { otlpJsonOf } from '../otlp/to-json.ts';
import { spanKinds, type Span } from '../trace/span.ts';
import type { InteropParts } from '../routes/interop.ts';
import type { Ingested } from './importer.ts';
import { interopViews } from './views.ts';

const folder = new URL('fixtures/', import.meta.url);

/** The text of a file of `fixtures/`. */
export function fixture(path: string): string {
  return readFileSync(new URL(path, folder), 'utf8');
}

/** The paths of all JSON files of a folder of `fixtures/`. */
export function fixturesIn(name: string): string[] {
  const files = readdirSync(new URL(`${name}/`, folder));
  return files.filter((file) => file.endsWith('.json')).map((file) => `${name}/${file}`);
}

/** Keeps exports in memory and answers of them what the service answers of its database. */
export class MemoryTraces implements InteropParts {
  readonly bodies: Uint8Array[] = [];
  readonly now: () => number;

  constructor(now: () => number = Date.now) {
    this.now = now;
  }

  readonly ingest = async (body: Uint8Array): Promise<Ingested> => {
    const { heads, rejectedCount, rejection } = scanSpans(body);
    // As posting it to a thread does.
    this.bodies.push(structuredClone(body, { transfer: [body.buffer as ArrayBuffer] }));
    return { accepted: heads.length, rejected: rejectedCount, reason: rejection };
  };

  readonly traceIds = (): string[] => [
    ...new Set(this.bodies.flatMap((body) => scanSpans(body).heads.map((head) => head.traceId))),
  ];

  readonly spansOf = (traceId: string): Span[] => {
    const spans = readSpans(this.bodies, traceId);
    if (spans.length === 0) throw new Fault('not_found', `there is no trace ${traceId}`);
    return spans;
  };

  readonly view: InteropParts['view'] = async (traceId, name, input) => {
    const trace = {
      traceId,
      spans: this.spansOf(traceId),
      bodies: this.bodies,
      isComplete: true,
      revision: 1,
    };
    // The names and their inputs belong together.
    const view = interopViews[name] as (trace: object, input: unknown) => unknown;
    return Buffer.from(JSON.stringify(view(trace, input)));
  };

  readonly otlpJson: InteropParts['otlpJson'] = async (traceId) => {
    this.spansOf(traceId);
    return Buffer.from(JSON.stringify(otlpJsonOf(this.bodies, traceId)));
  };

  readonly findTraces: InteropParts['findTraces'] = async ({ fromUs, toUs, limit }) => {
    const starts = this.traceIds().map((id) => [id, this.spansOf(id)[0]?.startUs ?? 0] as const);
    const within = starts.filter(([, start]) => start <= toUs && start >= fromUs - 3_600_000_000);
    return within
      .toSorted((a, b) => b[1] - a[1])
      .slice(0, limit)
      .map(([id]) => id);
  };

  readonly services: InteropParts['services'] = async () => [
    ...new Set(this.#spans().map(({ service }) => service)),
  ];

  readonly operations: InteropParts['operations'] = async (service) => {
    const names = new Map<string, { name: string; kind: string }>();
    for (const span of this.#spans().filter((one) => one.service === service)) {
      const kind = Object.entries(spanKinds).find(([, number]) => number === span.kind)?.[0] ?? '';
      names.set(`${span.name}\n${kind}`, { name: span.name, kind });
    }
    return [...names.values()];
  };

  readonly dependencies: InteropParts['dependencies'] = async ({ fromUs, toUs }) => {
    const spans = this.#spans().filter(({ startUs }) => startUs >= fromUs && startUs <= toUs);
    const byId = new Map(spans.map((span) => [span.spanId, span]));
    return spans.flatMap(({ parentSpanId = '', service }) => {
      const parent = byId.get(parentSpanId)?.service;
      if (parent === undefined || parent === service) return [];
      return [{ parent, child: service, callCount: 1 }];
    });
  };

  #spans(): Span[] {
    return this.traceIds().flatMap((id) => this.spansOf(id));
  }
}
