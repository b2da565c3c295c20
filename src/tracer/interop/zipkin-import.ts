import type { EventInput, ExportAttribute, StatusInput } from '../otlp/export-model.ts';
import { spanKinds } from '../trace/span.ts';
import { spanIdOf, traceIdOf } from './foreign-id.ts';
import { toNs, type ForeignSpan } from './foreign-trace.ts';
import type { JsonField } from './json-field.ts';
import { splitSharedSpans } from './zipkin-halves.ts';
import type { Endpoint, ZipkinOptions, ZipkinSpan } from './zipkin-span.ts';

/**
 * Reads a Zipkin v2 list of spans. A span that client and server share becomes two, the server's below
 * the client's; endpoints become attributes, annotations events, and the tag `error` the status.
 */
export function readZipkin(document: JsonField, options: ZipkinOptions): readonly ForeignSpan[] {
  const spans = document.items().map(readSpan);
  return splitSharedSpans(spans, options).map(toForeignSpan);
}

const kindsByName: Readonly<Record<string, number>> = {
  CLIENT: spanKinds.client,
  SERVER: spanKinds.server,
  PRODUCER: spanKinds.producer,
  CONSUMER: spanKinds.consumer,
};

function readSpan(span: JsonField): ZipkinSpan {
  const parent = span.at('parentId');
  return {
    traceId: traceIdOf(span.at('traceId')),
    spanId: spanIdOf(span.at('id')),
    parentSpanId: parent.isPresent ? spanIdOf(parent) : undefined,
    kind: readKind(span.at('kind')),
    name: span.at('name').optionalText() ?? '',
    startUs: startOf(span),
    durationUs: span.at('duration').optionalCount() ?? 0,
    local: readEndpoint(span.at('localEndpoint')),
    remote: readEndpoint(span.at('remoteEndpoint')),
    isShared: span.at('shared').optionalFlag() ?? false,
    isDebug: span.at('debug').optionalFlag() ?? false,
    annotations: span.at('annotations').items().map(readAnnotation),
    tags: span
      .at('tags')
      .entries()
      .map(([key, value]) => [key, value.text()]),
  };
}

function readKind(field: JsonField): number {
  const name = field.optionalText();
  if (name === undefined) return spanKinds.internal;
  const kind = kindsByName[name.toUpperCase()];
  if (kind === undefined) throw field.refusal('must be CLIENT, SERVER, PRODUCER or CONSUMER');
  return kind;
}

/** A span without a time begins with its first annotation; 0 where it has none either. */
function startOf(span: JsonField): number {
  const start = span.at('timestamp').optionalCount();
  if (start !== undefined && start > 0) return start;
  const times = span
    .at('annotations')
    .items()
    .map((annotation) => annotation.at('timestamp').count());
  return times.length > 0 ? Math.min(...times) : 0;
}

function readEndpoint(field: JsonField): Endpoint | undefined {
  if (!field.isPresent) return undefined;
  const address = field.at('ipv4').optionalText() ?? field.at('ipv6').optionalText();
  const port = field.at('port').optionalCount();
  const service = field.at('serviceName').optionalText();
  return {
    service: service === '' ? undefined : service,
    address,
    port: port === 0 ? undefined : port,
  };
}

function readAnnotation(annotation: JsonField): EventInput {
  return {
    timeNs: toNs(annotation.at('timestamp').count()),
    name: annotation.at('value').text(),
  };
}

function toForeignSpan(zipkin: ZipkinSpan): ForeignSpan {
  const { traceId, spanId, parentSpanId, name, kind, startUs, durationUs, annotations } = zipkin;
  const error = zipkin.tags.find(([key]) => key === 'error')?.[1];
  return {
    resource: resourceOf(zipkin.local),
    scope: undefined,
    span: {
      traceId,
      spanId,
      parentSpanId,
      flags: 1,
      name,
      kind,
      startNs: toNs(startUs),
      endNs: toNs(startUs + durationUs),
      attributes: attributesOf(zipkin),
      events: annotations,
      status: statusOf(error),
    },
  };
}

/** A tag `error` says that the span failed, whatever it holds but `false`. */
function statusOf(error: string | undefined): StatusInput | undefined {
  if (error === undefined || error === 'false') return undefined;
  return { code: 2, message: error === 'true' ? '' : error };
}

function resourceOf(local: Endpoint | undefined): ExportAttribute[] {
  const attributes: ExportAttribute[] = [];
  if (local?.service !== undefined) attributes.push(['service.name', local.service]);
  // Zipkin knows a host by its address only; by it one clock is told from another.
  if (local?.address !== undefined) attributes.push(['host.name', local.address]);
  return attributes;
}

function attributesOf({ tags, local, remote, isDebug }: ZipkinSpan): ExportAttribute[] {
  const attributes: ExportAttribute[] = [...tags];
  const has = (name: string) => attributes.some(([key]) => key === name);
  const add = (name: string, value: string | number | undefined) => {
    if (value === undefined || has(name)) return;
    attributes.push([name, typeof value === 'number' ? BigInt(value) : value]);
  };
  add('network.local.port', local?.port);
  add('peer.service', remote?.service);
  add('network.peer.address', remote?.address);
  add('network.peer.port', remote?.port);
  if (isDebug && !has('zipkin.debug')) attributes.push(['zipkin.debug', true]);
  return attributes;
}
