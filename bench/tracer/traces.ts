import type { SpanInput } from '../../src/tracer/otlp/export-model.ts';
import { spanKinds } from '../../src/tracer/trace/span.ts';
import { attributesOf, exceptionAt, type Occasion } from './attributes.ts';
import { roots, services, type Operation } from './operations.ts';
import { Random } from './random.ts';

/** A span and who sends it. */
export interface SentSpan {
  readonly service: string;
  readonly span: SpanInput;
}

const agents = 50;
const users = 20_000;

/** Makes traces one after the other, the same for the same seed but for their times. */
export class TraceMaker {
  readonly #random: Random;
  /** By how much the clock of each service is wrong, in microseconds. */
  readonly #skews: ReadonlyMap<string, number>;

  constructor(seed: number) {
    const random = new Random(seed);
    this.#random = random;
    this.#skews = new Map(services.map((name) => [name, Math.round(random.gauss() * 800)]));
  }

  /** The spans of a trace that begins then, in the order in which they end in their services. */
  make(startUs: number): SentSpan[] {
    const random = this.#random;
    const occasion: Occasion = {
      agent: `agent-${String(Math.floor(random.next() ** 2 * agents)).padStart(3, '0')}`,
      session: `sess_${random.hex(16)}`,
      user: `user-${random.below(users)}`,
    };
    const trace = new Trace(random, { traceId: random.hex(32), occasion, skews: this.#skews });
    trace.add(this.#pickRoot(), undefined, startUs);
    return trace.spans;
  }

  #pickRoot(): Operation {
    let left = this.#random.next();
    for (const { operation, share } of roots) {
      if (left < share) return operation;
      left -= share;
    }
    throw new Error('the shares of the roots do not add up to 1');
  }
}

interface TraceFacts {
  readonly traceId: string;
  readonly occasion: Occasion;
  readonly skews: ReadonlyMap<string, number>;
}

class Trace {
  readonly spans: SentSpan[] = [];
  readonly #random: Random;
  readonly #facts: TraceFacts;

  constructor(random: Random, facts: TraceFacts) {
    this.#random = random;
    this.#facts = facts;
  }

  /** Adds a span and those below it; answers when it is over for its caller. */
  add(operation: Operation, parentSpanId: string | undefined, startUs: number): number {
    const random = this.#random;
    const spanId = random.hex(16);
    const selfUs = this.#selfTime(operation);
    const isError = random.next() < 0.006;
    const isSending = operation.kind === spanKinds.producer;
    const calledUntil = this.#addCalls(operation, { spanId, selfUs, startUs });
    const endUs = Math.max(calledUntil, startUs + selfUs * 0.4) + selfUs * 0.6;
    // Who sends a message does not wait until it is received.
    const ownEndUs = isSending ? startUs + selfUs : endUs;
    const durationUs = Math.max(1, Math.round(ownEndUs - startUs));
    const span = this.#span(operation, { startUs, durationUs, isError });
    this.spans.push({ service: operation.service, span: { ...span, spanId, parentSpanId } });
    return endUs;
  }

  #addCalls(
    { kind, calls }: Operation,
    by: { readonly spanId: string; readonly selfUs: number; readonly startUs: number },
  ): number {
    const random = this.#random;
    const { spanId, selfUs } = by;
    let atUs = by.startUs + selfUs * 0.4;
    for (const { operation, probability, times } of calls) {
      for (let time = 0; time < times; time += 1) {
        if (random.next() >= probability) continue;
        const networkUs = kind === spanKinds.client ? 300 + random.next() * 900 : 0;
        const endUs = this.add(operation, spanId, atUs + networkUs);
        if (kind === spanKinds.producer) atUs += 200;
        // Three calls in ten overlap with the next one.
        else if (random.next() < 0.3) atUs = endUs + networkUs - Math.min(endUs - atUs, selfUs);
        else atUs = endUs + networkUs + selfUs * 0.1;
      }
    }
    return atUs;
  }

  /** Lognormal; one in a hundred is eight times as slow. */
  #selfTime({ medianMs, topic }: Operation): number {
    const random = this.#random;
    const spread = topic === 'genai' ? 0.7 : 0.5;
    const us = medianMs * 1_000 * Math.exp(random.gauss() * spread);
    return Math.max(20, us * (random.next() < 0.01 ? 8 : 1));
  }

  #span(
    operation: Operation,
    times: { readonly startUs: number; readonly durationUs: number; readonly isError: boolean },
  ): Omit<SpanInput, 'spanId'> {
    const random = this.#random;
    const { traceId, occasion, skews } = this.#facts;
    const { name, kind, service } = operation;
    const { startUs, durationUs, isError } = times;
    const startNs =
      BigInt(Math.round(startUs) + (skews.get(service) ?? 0)) * 1_000n +
      BigInt(random.below(1_000));
    const endNs = startNs + BigInt(durationUs) * 1_000n + BigInt(random.below(1_000));
    const attributes = attributesOf({ operation, occasion, isError, random });
    const span = { traceId, name, kind, startNs, endNs, attributes, flags: 0x101 };
    if (!isError) return span;
    return { ...span, status: { code: 2 }, events: [exceptionAt(endNs - 10_000n, random)] };
  }
}
