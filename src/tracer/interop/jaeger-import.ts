import type {
  EventInput,
  ExportAttribute,
  LinkInput,
  SpanInput,
  StatusInput,
} from '../otlp/export-model.ts';
import { spanKinds } from '../trace/span.ts';
import { spanIdOf, traceIdOf } from './foreign-id.ts';
import { toNs, type ForeignSpan } from './foreign-trace.ts';
import { jaegerAttributes } from './jaeger-json.ts';
import { readTags, takeTag, takeText, valueOf } from './jaeger-tags.ts';
import type { JsonField } from './json-field.ts';

/**
 * Reads Jaeger's JSON: `{data: [trace, …]}` or one trace `{spans, processes}`. A reference CHILD_OF in
 * the trace is the parent, every other one a link; logs become events.
 */
export function readJaeger(document: JsonField): readonly ForeignSpan[] {
  const data = document.at('data');
  const traces = data.isPresent ? data.items() : [document];
  return traces.flatMap(readTrace);
}

function readTrace(trace: JsonField): ForeignSpan[] {
  const processes = new Map(
    trace
      .at('processes')
      .entries()
      .map(([name, process]) => [name, readProcess(process)]),
  );
  const spans = trace.at('spans').items();
  const starts = spans.map((span) => span.at('startTime').count());
  // 0 means unknown in OTLP: a trace on a clock of its own that begins at 0 is moved as a whole.
  const shiftUs = starts.includes(0) ? 1 : 0;
  return spans.map((span, index) => ({
    resource: resourceOf(span, processes),
    ...readSpan(span, { startUs: (starts[index] ?? 0) + shiftUs, shiftUs }),
  }));
}

function readProcess(process: JsonField): readonly ExportAttribute[] {
  const tags = readTags(process.at('tags'));
  const hostName = takeText(tags, 'hostname');
  const service = process.at('serviceName').text();
  return [
    ['service.name', service],
    ...(hostName === undefined ? [] : [['host.name', hostName] as const]),
    ...tags,
  ];
}

function resourceOf(
  span: JsonField,
  processes: ReadonlyMap<string, readonly ExportAttribute[]>,
): readonly ExportAttribute[] {
  const own = span.at('process');
  if (own.isPresent) return readProcess(own);
  const id = span.at('processID');
  const process = processes.get(id.text());
  if (!process) throw id.refusal('must name one of the processes');
  return process;
}

interface Times {
  readonly startUs: number;
  readonly shiftUs: number;
}

function readSpan(span: JsonField, { startUs, shiftUs }: Times): Omit<ForeignSpan, 'resource'> {
  const tags = readTags(span.at('tags'));
  const ids = { traceId: traceIdOf(span.at('traceID')), spanId: spanIdOf(span.at('spanID')) };
  const read: SpanInput = {
    ...ids,
    ...readReferences(span, ids.traceId),
    name: span.at('operationName').text(),
    kind: takeKind(tags),
    startNs: toNs(startUs),
    endNs: toNs(startUs + span.at('duration').count()),
    flags: (span.at('flags').optionalCount() ?? 1) & 1,
    traceState: takeText(tags, 'w3c.tracestate'),
    status: takeStatus(tags),
    events: span
      .at('logs')
      .items()
      .map((log) => readLog(log, shiftUs)),
  };
  const scope = takeScope(tags);
  return { scope, span: { ...read, attributes: [...tags, ...ownAttributes(span)] } };
}

/** What only Jaeger says of a span. */
function ownAttributes(span: JsonField): ExportAttribute[] {
  const flags = span.at('flags').optionalCount() ?? 1;
  const warnings = span
    .at('warnings')
    .items()
    .map((warning) => warning.text());
  return [
    ...(flags > 1 ? [[jaegerAttributes.flags, BigInt(flags)] as const] : []),
    ...(warnings.length > 0 ? [[jaegerAttributes.warnings, warnings] as const] : []),
  ];
}

function readReferences(
  span: JsonField,
  traceId: string,
): Pick<SpanInput, 'parentSpanId' | 'links'> {
  const references = span.at('references').items().map(readReference);
  const own = references.filter((reference) => reference.traceId === traceId);
  const named = span.at('parentSpanID');
  const parent = own.find(({ isChild }) => isChild);
  // A span that only follows from another hangs below it, so that the trace stays one tree.
  const above = parent?.spanId ?? (isId(named) ? spanIdOf(named) : own[0]?.spanId);
  const links = references.filter((reference) => reference !== parent).map(toLink);
  return { parentSpanId: above, links };
}

/** Jaeger's own exporters write an empty or a zero id where there is none. */
function isId(field: JsonField): boolean {
  return field.isPresent && !/^0*$/.test(field.text());
}

interface Reference {
  readonly traceId: string;
  readonly spanId: string;
  readonly isChild: boolean;
}

function readReference(reference: JsonField): Reference {
  const type = reference.at('refType');
  const name = type.text();
  if (name !== 'CHILD_OF' && name !== 'FOLLOWS_FROM') {
    throw type.refusal('must be CHILD_OF or FOLLOWS_FROM');
  }
  return {
    traceId: traceIdOf(reference.at('traceID')),
    spanId: spanIdOf(reference.at('spanID')),
    isChild: name === 'CHILD_OF',
  };
}

function toLink({ traceId, spanId, isChild }: Reference): LinkInput {
  const type = isChild ? 'child_of' : 'follows_from';
  return { traceId, spanId, attributes: [[jaegerAttributes.referenceType, type]] };
}

function readLog(log: JsonField, shiftUs: number): EventInput {
  const fields = readTags(log.at('fields'));
  const name = takeText(fields, 'event') ?? '';
  return { timeNs: toNs(log.at('timestamp').count() + shiftUs), name, attributes: fields };
}

function takeKind(tags: ExportAttribute[]): number {
  const kindName = valueOf(tags, 'span.kind');
  const kind = Object.entries(spanKinds).find(([name]) => name === kindName)?.[1];
  if (kind === undefined) return spanKinds.unspecified;
  takeTag(tags, 'span.kind');
  return kind;
}

function takeScope(tags: ExportAttribute[]): ForeignSpan['scope'] {
  const name = takeText(tags, 'otel.scope.name') ?? takeText(tags, 'otel.library.name');
  const version = takeText(tags, 'otel.scope.version') ?? takeText(tags, 'otel.library.version');
  if (name === undefined && version === undefined) return undefined;
  return { name: name ?? '', version: version ?? '' };
}

/** `error` and OpenTelemetry's own two tags say how a span ended; those that say no more are taken. */
function takeStatus(tags: ExportAttribute[]): StatusInput | undefined {
  const code = valueOf(tags, 'otel.status_code');
  const error = valueOf(tags, 'error');
  const isFlag = error === true || error === 'true';
  if (isFlag) takeTag(tags, 'error');
  if (code === 'ERROR' || code === 'OK') takeTag(tags, 'otel.status_code');
  if (!isFlag && !isCause(error) && code !== 'ERROR')
    return code === 'OK' ? { code: 1 } : undefined;
  const cause = isCause(error) ? error : '';
  return { code: 2, message: takeText(tags, 'otel.status_description') ?? cause };
}

/** Some tracers put the error itself into the tag. */
function isCause(error: ExportAttribute[1] | undefined): error is string {
  return typeof error === 'string' && error !== '' && error !== 'true' && error !== 'false';
}
