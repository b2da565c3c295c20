import { depthLimit } from './any-value.ts';
import type {
  EventInput,
  ExportAttribute,
  ExportAttributes,
  ExportMap,
  ExportValue,
  LinkInput,
  ResourceInput,
  ResourceSpansInput,
  ScopeInput,
  ScopeSpansInput,
  SpanInput,
  StatusInput,
} from './export-model.ts';
import { ProtoWriter } from './writer.ts';

/**
 * An ExportTraceServiceRequest in protobuf. Ids that are no hexadecimal are written as far as they
 * are; whether they are of the right length is for who reads it.
 */
export function encodeExport(resources: readonly ResourceSpansInput[]): Uint8Array {
  const writer = new ProtoWriter();
  for (const resource of resources) writer.message(1, () => writeResource(writer, resource));
  return writer.take();
}

function writeResource(writer: ProtoWriter, input: ResourceSpansInput): void {
  const { resource, scopes, schemaUrl } = input;
  if (resource) writer.message(1, () => writeResourceItself(writer, resource));
  for (const scope of scopes) writer.message(2, () => writeScope(writer, scope));
  if (schemaUrl) writer.text(3, schemaUrl);
}

function writeResourceItself(writer: ProtoWriter, resource: ResourceInput): void {
  writeAttributes(writer, 1, resource.attributes);
  if (resource.droppedAttributesCount) writer.unsigned(2, resource.droppedAttributesCount);
}

function writeScope(writer: ProtoWriter, { scope, spans, schemaUrl }: ScopeSpansInput): void {
  if (scope) writer.message(1, () => writeScopeItself(writer, scope));
  for (const span of spans) writer.message(2, () => writeSpan(writer, span));
  if (schemaUrl) writer.text(3, schemaUrl);
}

function writeScopeItself(writer: ProtoWriter, scope: ScopeInput): void {
  if (scope.name) writer.text(1, scope.name);
  if (scope.version) writer.text(2, scope.version);
  writeAttributes(writer, 3, scope.attributes);
  if (scope.droppedAttributesCount) writer.unsigned(4, scope.droppedAttributesCount);
}

function writeSpan(writer: ProtoWriter, span: SpanInput): void {
  const { status } = span;
  writeIds(writer, span);
  if (span.parentSpanId) writer.bytes(4, Buffer.from(span.parentSpanId, 'hex'));
  writer.text(5, span.name);
  if (span.kind) writer.unsigned(6, span.kind);
  writer.fixed64(7, span.startNs);
  writer.fixed64(8, span.endNs);
  writeAttributes(writer, 9, span.attributes);
  if (span.droppedAttributesCount) writer.unsigned(10, span.droppedAttributesCount);
  for (const event of span.events ?? []) writer.message(11, () => writeEvent(writer, event));
  if (span.droppedEventsCount) writer.unsigned(12, span.droppedEventsCount);
  for (const link of span.links ?? []) writer.message(13, () => writeLink(writer, link));
  if (span.droppedLinksCount) writer.unsigned(14, span.droppedLinksCount);
  if (status) writer.message(15, () => writeStatus(writer, status));
  if (span.flags) writer.fixed32(16, span.flags);
}

/** The fields that stand alike in a span and in a link. */
function writeIds(
  writer: ProtoWriter,
  { traceId, spanId, traceState }: SpanInput | LinkInput,
): void {
  writer.bytes(1, Buffer.from(traceId, 'hex'));
  writer.bytes(2, Buffer.from(spanId, 'hex'));
  if (traceState) writer.text(3, traceState);
}

function writeEvent(writer: ProtoWriter, event: EventInput): void {
  writer.fixed64(1, event.timeNs);
  writer.text(2, event.name);
  writeAttributes(writer, 3, event.attributes);
  if (event.droppedAttributesCount) writer.unsigned(4, event.droppedAttributesCount);
}

function writeLink(writer: ProtoWriter, link: LinkInput): void {
  writeIds(writer, link);
  writeAttributes(writer, 4, link.attributes);
  if (link.droppedAttributesCount) writer.unsigned(5, link.droppedAttributesCount);
  if (link.flags) writer.fixed32(6, link.flags);
}

function writeStatus(writer: ProtoWriter, { code, message }: StatusInput): void {
  if (message) writer.text(2, message);
  if (code) writer.unsigned(3, code);
}

function writeAttributes(
  writer: ProtoWriter,
  field: number,
  attributes: ExportAttributes | undefined,
): void {
  for (const attribute of attributes ?? [])
    writer.message(field, () => writePair(writer, attribute, 1));
}

function writePair(writer: ProtoWriter, [key, value]: ExportAttribute, depth: number): void {
  writer.text(1, key);
  writer.message(2, () => writeValue(writer, value, depth));
}

/** What lies deeper than a span may go is written as empty, so that the span is rejected. */
function writeValue(writer: ProtoWriter, value: ExportValue, depth: number): void {
  if (value === null || depth > depthLimit) return;
  if (typeof value === 'string') writer.text(1, value);
  else if (typeof value === 'boolean') writer.unsigned(2, value ? 1 : 0);
  else if (typeof value === 'bigint') writer.int64(3, value);
  else if (typeof value === 'number') writer.double(4, value);
  else if (value instanceof Uint8Array) writer.bytes(7, value);
  else writer.message(isList(value) ? 5 : 6, () => writeItems(writer, value, depth + 1));
}

function writeItems(
  writer: ProtoWriter,
  items: readonly ExportValue[] | ExportMap,
  depth: number,
): void {
  if (isList(items))
    for (const item of items) writer.message(1, () => writeValue(writer, item, depth));
  else for (const pair of items.pairs) writer.message(1, () => writePair(writer, pair, depth));
}

function isList(value: ExportValue): value is readonly ExportValue[] {
  return Array.isArray(value);
}
