import { Fault } from '../../kit/errors.ts';
import type { ResourceSpansInput } from '../otlp/export-model.ts';
import { groupSpans, type ForeignSpan } from './foreign-trace.ts';
import { readJaeger } from './jaeger-import.ts';
import { JsonField } from './json-field.ts';
import { readZipkin } from './zipkin-import.ts';

/** What a document of traces turned out to be. */
export type Imported =
  | { readonly format: 'otlp'; readonly exports: readonly [] }
  | {
      readonly format: 'zipkin' | 'jaeger';
      /** In parts of a few thousand spans, each to be one export. */
      readonly exports: readonly (readonly ResourceSpansInput[])[];
    };

/** Spans in one export, so that other exports come in between. */
const exportSpansMax = 2000;

/**
 * Reads a document by its shape: a list is Zipkin v2, an object with `data` or `spans` is Jaeger's
 * JSON, one with `resourceSpans` OTLP/JSON. Throws `invalid` with the place of what is wrong.
 */
export function readImport(text: string): Imported {
  const document = new JsonField(parseJson(text));
  const { value } = document;
  if (Array.isArray(value)) {
    return { format: 'zipkin', exports: exportsOf(readZipkin(document, { isWhole: true })) };
  }
  if (document.at('resourceSpans').isPresent || document.at('resource_spans').isPresent) {
    return { format: 'otlp', exports: [] };
  }
  if (document.at('data').isPresent || document.at('spans').isPresent) {
    return { format: 'jaeger', exports: exportsOf(readJaeger(document)) };
  }
  throw document.refusal(
    'must be a list of Zipkin v2 spans, or have data (Jaeger) or resourceSpans (OTLP/JSON)',
  );
}

/** Reads a list of Zipkin v2 spans, to which other requests may add. */
export function readZipkinSpans(text: string): readonly (readonly ResourceSpansInput[])[] {
  const spans = readZipkin(new JsonField(parseJson(text)), { isWhole: false });
  return exportsOf(spans);
}

function exportsOf(spans: readonly ForeignSpan[]): readonly (readonly ResourceSpansInput[])[] {
  const count = Math.ceil(spans.length / exportSpansMax);
  return Array.from({ length: count }, (_, index) =>
    groupSpans(spans.slice(index * exportSpansMax, (index + 1) * exportSpansMax)),
  );
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    const message = cause instanceof Error ? cause.message : '';
    const place = /position \d+|line \d+ column \d+/.exec(message)?.[0];
    throw new Fault('invalid', `the document is no JSON${place ? ` at ${place}` : ''}`, {
      reason: 'malformed_json',
      cause,
    });
  }
}
