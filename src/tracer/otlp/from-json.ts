import { Fault } from '../../kit/errors.ts';
import { depthLimit } from './any-value.ts';
import { encodeExport } from './encode-export.ts';
import type {
  EventInput,
  ExportAttribute,
  ExportAttributes,
  ExportValue,
  LinkInput,
  ResourceInput,
  ResourceSpansInput,
  ScopeInput,
  ScopeSpansInput,
  SpanInput,
  StatusInput,
} from './export-model.ts';
import { JsonSource } from './json-source.ts';

type JsonObject = Readonly<Record<string, unknown>>;

const kindNames: Readonly<Record<string, number>> = {
  SPAN_KIND_UNSPECIFIED: 0,
  SPAN_KIND_INTERNAL: 1,
  SPAN_KIND_SERVER: 2,
  SPAN_KIND_CLIENT: 3,
  SPAN_KIND_PRODUCER: 4,
  SPAN_KIND_CONSUMER: 5,
};

const statusNames: Readonly<Record<string, number>> = {
  STATUS_CODE_UNSET: 0,
  STATUS_CODE_OK: 1,
  STATUS_CODE_ERROR: 2,
};

/**
 * An export in OTLP/JSON as protobuf. Throws the Fault `malformed_json`, naming the field, where it
 * is none; ids of a wrong length and missing times are left to the scanner, which rejects the span.
 */
export function encodeJsonExport(text: Buffer | string): Uint8Array {
  return encodeExport(new ExportReader().read(parsed(text)));
}

function parsed(text: Buffer | string): unknown {
  try {
    return JSON.parse(typeof text === 'string' ? text : text.toString('utf8'));
  } catch {
    throw new Fault('invalid', 'The body is not valid JSON.', { reason: 'malformed_json' });
  }
}

type ReadValue = (value: unknown, depth: number) => ExportValue;

class ExportReader {
  readonly #from = new JsonSource();
  /** The fields of an AnyValue under both of their names. */
  readonly #members: ReadonlyMap<string, ReadValue> = new Map<string, ReadValue>([
    ...spellings('string', this.#from.text),
    ...spellings('bool', this.#from.boolean),
    ...spellings('int', this.#from.int64),
    ...spellings('double', this.#from.double),
    ...spellings('bytes', this.#from.bytes),
    ...spellings('array', (value, depth) => this.#array(value, depth)),
    ...spellings('kvlist', (value, depth) => this.#map(value, depth)),
  ]);

  read(json: unknown): ResourceSpansInput[] {
    const body = this.#from.object(json);
    return this.#from.list(body, 'resourceSpans', (item) => this.#resourceSpans(item)) ?? [];
  }

  #resourceSpans(json: JsonObject): ResourceSpansInput {
    const from = this.#from;
    return {
      resource: from.field(json, 'resource', (value) => this.#resource(from.object(value))),
      scopes: from.list(json, 'scopeSpans', (item) => this.#scopeSpans(item)) ?? [],
      schemaUrl: from.field(json, 'schemaUrl', from.text),
    };
  }

  #resource(json: JsonObject): ResourceInput {
    return {
      attributes: this.#pairs(json, 'attributes', 1),
      droppedAttributesCount: this.#from.field(
        json,
        'droppedAttributesCount',
        this.#from.unsigned32,
      ),
    };
  }

  #scopeSpans(json: JsonObject): ScopeSpansInput {
    const from = this.#from;
    return {
      scope: from.field(json, 'scope', (value) => this.#scope(from.object(value))),
      spans: from.list(json, 'spans', (item) => this.#span(item)) ?? [],
      schemaUrl: from.field(json, 'schemaUrl', from.text),
    };
  }

  #scope(json: JsonObject): ScopeInput {
    const from = this.#from;
    return {
      name: from.field(json, 'name', from.text),
      version: from.field(json, 'version', from.text),
      attributes: this.#pairs(json, 'attributes', 1),
      droppedAttributesCount: from.field(json, 'droppedAttributesCount', from.unsigned32),
    };
  }

  /** Names every field, as `#link` does: a spread takes longer than all the rest. */
  #span(json: JsonObject): SpanInput {
    const from = this.#from;
    return {
      traceId: from.field(json, 'traceId', from.id) ?? '',
      spanId: from.field(json, 'spanId', from.id) ?? '',
      parentSpanId: from.field(json, 'parentSpanId', from.id),
      traceState: from.field(json, 'traceState', from.text),
      flags: from.field(json, 'flags', from.unsigned32),
      name: from.field(json, 'name', from.text) ?? '',
      kind: from.field(json, 'kind', this.#kind),
      startNs: from.field(json, 'startTimeUnixNano', from.unsigned64) ?? 0n,
      endNs: from.field(json, 'endTimeUnixNano', from.unsigned64) ?? 0n,
      attributes: this.#pairs(json, 'attributes', 1),
      droppedAttributesCount: from.field(json, 'droppedAttributesCount', from.unsigned32),
      events: from.list(json, 'events', (item) => this.#event(item)),
      droppedEventsCount: from.field(json, 'droppedEventsCount', from.unsigned32),
      links: from.list(json, 'links', (item) => this.#link(item)),
      droppedLinksCount: from.field(json, 'droppedLinksCount', from.unsigned32),
      status: from.field(json, 'status', (value) => this.#status(from.object(value))),
    };
  }

  readonly #kind = (value: unknown): number => this.#from.choice(value, kindNames);

  #event(json: JsonObject): EventInput {
    const from = this.#from;
    return {
      timeNs: from.field(json, 'timeUnixNano', from.unsigned64) ?? 0n,
      name: from.field(json, 'name', from.text) ?? '',
      attributes: this.#pairs(json, 'attributes', 1),
      droppedAttributesCount: from.field(json, 'droppedAttributesCount', from.unsigned32),
    };
  }

  #link(json: JsonObject): LinkInput {
    const from = this.#from;
    return {
      traceId: from.field(json, 'traceId', from.id) ?? '',
      spanId: from.field(json, 'spanId', from.id) ?? '',
      traceState: from.field(json, 'traceState', from.text),
      flags: from.field(json, 'flags', from.unsigned32),
      attributes: this.#pairs(json, 'attributes', 1),
      droppedAttributesCount: from.field(json, 'droppedAttributesCount', from.unsigned32),
    };
  }

  #status(json: JsonObject): StatusInput {
    const from = this.#from;
    return {
      message: from.field(json, 'message', from.text),
      code: from.field(json, 'code', (value) => from.choice(value, statusNames)),
    };
  }

  #pairs(json: JsonObject, name: string, depth: number): ExportAttributes | undefined {
    return this.#from.list(json, name, (item): ExportAttribute => {
      const key = this.#from.field(item, 'key', this.#from.text) ?? '';
      const value = this.#from.field(item, 'value', (inner) =>
        this.#value(this.#from.object(inner), depth),
      );
      return [key, value ?? null];
    });
  }

  /**
   * What lies deeper than a span may go is not looked at; its place stays, so the span is rejected.
   */
  #value(json: JsonObject, depth: number): ExportValue {
    if (depth > depthLimit) return null;
    let found: ExportValue | undefined;
    for (const name of Object.keys(json)) {
      const read = this.#members.get(name);
      const value = read && this.#from.field(json, name, (member) => read(member, depth));
      if (value === undefined) continue;
      if (found !== undefined) return this.#from.fail('one value');
      found = value;
    }
    return found ?? null;
  }

  #array(json: unknown, depth: number): ExportValue {
    const list = this.#from.object(json);
    return this.#from.list(list, 'values', (item) => this.#value(item, depth + 1)) ?? [];
  }

  #map(json: unknown, depth: number): ExportValue {
    return { pairs: this.#pairs(this.#from.object(json), 'values', depth + 1) ?? [] };
  }
}

function spellings(type: string, read: ReadValue): [string, ReadValue][] {
  return [
    [`${type}Value`, read],
    [`${type}_value`, read],
  ];
}
