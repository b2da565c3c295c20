import type {
  EventInput,
  ExportAttributes,
  ExportValue,
  LinkInput,
  ScopeInput,
} from '../otlp/export-model.ts';
import type { View } from '../reading/view.ts';
import { spanKinds, type SpanHead } from '../trace/span.ts';
import {
  jaegerAttributes,
  type JaegerLog,
  type JaegerProcess,
  type JaegerReference,
  type JaegerSpan,
  type JaegerTag,
  type JaegerTrace,
} from './jaeger-json.ts';
import { toTags, valueOf } from './jaeger-tags.ts';
import { sentSpans, type SentSpan } from './sent-span.ts';

/**
 * A trace in Jaeger's JSON. What that has no place for is left out: attributes of scopes, and of links
 * all but their sort.
 */
export const jaegerView = ((trace): JaegerTrace => {
  const processes = new Processes();
  const spans = sentSpans(trace).map((sent) => toJaeger(sent, processes.idOf(sent)));
  return { traceID: trace.traceId, spans, processes: processes.all(), warnings: null };
}) satisfies View<undefined>;

/** What tags are made of beside attributes. */
export interface Taggable {
  readonly head: Pick<SpanHead, 'kind' | 'isError' | 'statusMessage'>;
  readonly scope: Pick<ScopeInput, 'name' | 'version'>;
  readonly traceState: string | undefined;
}

/** Tags that say what Jaeger has no field for: kind, status, scope and trace state. */
export function madeTags({ head, scope, traceState }: Taggable): JaegerTag[] {
  const { kind, isError, statusMessage } = head;
  const tags: JaegerTag[] = [];
  const add = (key: string, value: string | undefined) => {
    if (value !== undefined && value !== '') tags.push({ key, type: 'string', value });
  };
  add('otel.scope.name', scope.name);
  add('otel.scope.version', scope.version);
  add('span.kind', kindNames.get(kind));
  if (isError) {
    add('otel.status_code', 'ERROR');
    tags.push({ key: 'error', type: 'bool', value: true });
  }
  add('otel.status_description', statusMessage);
  add('w3c.tracestate', traceState);
  return tags;
}

const kindNames = new Map(
  Object.entries(spanKinds)
    .filter(([name]) => name !== 'unspecified')
    .map(([name, kind]) => [kind as number, name]),
);

function toJaeger(sent: SentSpan, processID: string): JaegerSpan {
  const { head, span } = sent;
  const { traceId, spanId, name, startUs, endUs } = head;
  const warnings = valueOf(span.attributes, jaegerAttributes.warnings);
  const flags = valueOf(span.attributes, jaegerAttributes.flags);
  return {
    traceID: traceId,
    spanID: spanId,
    flags: typeof flags === 'bigint' ? Number(flags) : 1,
    operationName: name,
    references: referencesOf(sent),
    startTime: startUs,
    duration: endUs - startUs,
    tags: tagsOf(sent),
    logs: (span.events ?? []).map(toLog),
    processID,
    warnings: Array.isArray(warnings) ? warnings.map(String) : null,
  };
}

const untagged: ReadonlySet<string> = new Set([jaegerAttributes.warnings, jaegerAttributes.flags]);

/** The span's own attributes stand before what is made of its other fields. */
function tagsOf({ head, span, scope }: SentSpan): JaegerTag[] {
  const own = toTags(span.attributes).filter(({ key }) => !untagged.has(key));
  const names = new Set(own.map(({ key }) => key));
  const made = madeTags({ head, scope, traceState: span.traceState });
  if (span.status?.code === 1) made.push({ key: 'otel.status_code', type: 'string', value: 'OK' });
  return [...own, ...made.filter(({ key }) => !names.has(key))];
}

/** A parent that a link names too is told once, by the link, for that knows the sort. */
function referencesOf({ head, span: { links = [] } }: SentSpan): JaegerReference[] {
  const { traceId, parentSpanId } = head;
  const references = links.map(toReference);
  const isNamed = links.some(
    (link) =>
      link.spanId === parentSpanId && link.traceId === traceId && sortOf(link) !== undefined,
  );
  if (parentSpanId === undefined || isNamed) return references;
  return [{ refType: 'CHILD_OF', traceID: traceId, spanID: parentSpanId }, ...references];
}

function toReference(link: LinkInput): JaegerReference {
  const refType = sortOf(link) === 'child_of' ? 'CHILD_OF' : 'FOLLOWS_FROM';
  return { refType, traceID: link.traceId, spanID: link.spanId };
}

function sortOf({ attributes }: LinkInput): ExportValue | undefined {
  return valueOf(attributes, jaegerAttributes.referenceType);
}

function toLog({ name, timeNs, attributes }: EventInput): JaegerLog {
  const event: JaegerTag[] = name === '' ? [] : [{ key: 'event', type: 'string', value: name }];
  return { timestamp: Number(timeNs / 1000n), fields: [...event, ...toTags(attributes)] };
}

/** The processes of a trace, each once. */
class Processes {
  readonly #ids = new Map<string, string>();
  readonly #known = new Map<ExportAttributes, string>();
  readonly #processes: Record<string, JaegerProcess> = {};

  idOf({ head: { service: serviceName }, resource }: SentSpan): string {
    const known = this.#known.get(resource);
    if (known !== undefined) return known;
    const tags = toTags(resource).filter(({ key }) => key !== 'service.name');
    const text = JSON.stringify([serviceName, tags]);
    const id = this.#ids.get(text) ?? `p${this.#ids.size + 1}`;
    this.#ids.set(text, id);
    this.#known.set(resource, id);
    this.#processes[id] = { serviceName, tags };
    return id;
  }

  all(): Readonly<Record<string, JaegerProcess>> {
    return this.#processes;
  }
}
