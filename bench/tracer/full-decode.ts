import { createRequire } from 'node:module';

/** What we use of protobufjs, which `@grpc/grpc-js` brings through `@grpc/proto-loader`. */
interface Protobufjs {
  readonly Root: { fromJSON(description: object): { lookupType(name: string): MessageType } };
}

interface MessageType {
  decode(bytes: Uint8Array): unknown;
}

/** Reads exports into objects with everything in them, as a generated decoder does. */
export function loadFullDecoder(): (bytes: Uint8Array) => unknown {
  const grpc = createRequire(import.meta.url).resolve('@grpc/grpc-js');
  const loader = createRequire(grpc).resolve('@grpc/proto-loader');
  // Its types are not where ours could see them.
  const { Root } = createRequire(loader)('protobufjs') as Protobufjs;
  const type = Root.fromJSON({ nested: messages }).lookupType('ExportTraceServiceRequest');
  return (bytes) => type.decode(bytes);
}

const one = (type: string, id: number) => ({ type, id });
const many = (type: string, id: number) => ({ rule: 'repeated', type, id });
const message = (fields: Readonly<Record<string, object>>) => ({ fields });

/** opentelemetry-proto 1.x: collector/trace/v1, trace/v1, resource/v1 and common/v1. */
const messages = {
  ExportTraceServiceRequest: message({ resourceSpans: many('ResourceSpans', 1) }),
  ResourceSpans: message({
    resource: one('Resource', 1),
    scopeSpans: many('ScopeSpans', 2),
    schemaUrl: one('string', 3),
  }),
  Resource: message({
    attributes: many('KeyValue', 1),
    droppedAttributesCount: one('uint32', 2),
  }),
  ScopeSpans: message({
    scope: one('Scope', 1),
    spans: many('Span', 2),
    schemaUrl: one('string', 3),
  }),
  Scope: message({
    name: one('string', 1),
    version: one('string', 2),
    attributes: many('KeyValue', 3),
  }),
  Span: message({
    traceId: one('bytes', 1),
    spanId: one('bytes', 2),
    traceState: one('string', 3),
    parentSpanId: one('bytes', 4),
    name: one('string', 5),
    kind: one('int32', 6),
    startTimeUnixNano: one('fixed64', 7),
    endTimeUnixNano: one('fixed64', 8),
    attributes: many('KeyValue', 9),
    droppedAttributesCount: one('uint32', 10),
    events: many('Event', 11),
    droppedEventsCount: one('uint32', 12),
    links: many('Link', 13),
    droppedLinksCount: one('uint32', 14),
    status: one('Status', 15),
    flags: one('fixed32', 16),
  }),
  Event: message({
    timeUnixNano: one('fixed64', 1),
    name: one('string', 2),
    attributes: many('KeyValue', 3),
    droppedAttributesCount: one('uint32', 4),
  }),
  Link: message({
    traceId: one('bytes', 1),
    spanId: one('bytes', 2),
    traceState: one('string', 3),
    attributes: many('KeyValue', 4),
  }),
  Status: message({ message: one('string', 2), code: one('int32', 3) }),
  KeyValue: message({ key: one('string', 1), value: one('AnyValue', 2) }),
  AnyValue: {
    oneofs: {
      value: {
        oneof: [
          'stringValue',
          'boolValue',
          'intValue',
          'doubleValue',
          'arrayValue',
          'kvlistValue',
          'bytesValue',
        ],
      },
    },
    fields: {
      stringValue: one('string', 1),
      boolValue: one('bool', 2),
      intValue: one('int64', 3),
      doubleValue: one('double', 4),
      arrayValue: one('ArrayValue', 5),
      kvlistValue: one('KeyValueList', 6),
      bytesValue: one('bytes', 7),
    },
  },
  ArrayValue: message({ values: many('AnyValue', 1) }),
  KeyValueList: message({ values: many('KeyValue', 1) }),
};
