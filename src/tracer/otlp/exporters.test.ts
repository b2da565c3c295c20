import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { context, diag, DiagLogLevel, SpanKind, trace, type DiagLogger } from '@opentelemetry/api';
import { OTLPTraceExporter as JsonExporter } from '@opentelemetry/exporter-trace-otlp-http';
import { OTLPTraceExporter as ProtobufExporter } from '@opentelemetry/exporter-trace-otlp-proto';
import { resourceFromAttributes } from '@opentelemetry/resources';
import {
  BasicTracerProvider,
  InMemorySpanExporter,
  SimpleSpanProcessor,
  type ReadableSpan,
} from '@opentelemetry/sdk-trace-base';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { exportAnswer, type ExportFormat } from './answers.ts';
import { encodeJsonExport } from './from-json.ts';
import { inflateBody } from './inflate.ts';
import { readSpans } from './read.ts';
import { scanSpans } from './scan.ts';

/** A receiver as OTLP/HTTP wants it, of this folder's parts only; keeps bodies as protobuf. */
class Receiver {
  readonly bodies: Uint8Array[] = [];
  rejected = { rejectedCount: 0, rejection: '' };
  readonly #server: Server = createServer((request, response) => {
    void this.#receive(request, response);
  });

  async #receive(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const sent = Buffer.concat(await request.toArray());
    const body = await inflateBody(sent, request.headers['content-encoding'], 1_000_000);
    const type = request.headers['content-type'] ?? '';
    const format: ExportFormat = type === 'application/json' ? 'json' : 'protobuf';
    this.bodies.push(format === 'json' ? encodeJsonExport(Buffer.from(body)) : body);
    response.writeHead(200, { 'content-type': type });
    response.end(exportAnswer(format, this.rejected));
  }

  async start(): Promise<string> {
    await new Promise<void>((resolve) => this.#server.listen(0, '127.0.0.1', resolve));
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}/v1/traces`;
  }

  stop(): void {
    this.#server.close();
    this.#server.closeAllConnections();
  }
}

const receiver = new Receiver();
let url = '';
let spans: ReadableSpan[] = [];

beforeAll(async () => {
  url = await receiver.start();
  const memory = new InMemorySpanExporter();
  const provider = new BasicTracerProvider({
    resource: resourceFromAttributes({ 'service.name': 'planner', 'host.name': 'h' }),
    spanProcessors: [new SimpleSpanProcessor(memory)],
  });
  const tracer = provider.getTracer('demo', '1.0');
  const root = tracer.startSpan('invoke_agent Planner', {
    kind: SpanKind.SERVER,
    startTime: Date.now() - 1_000,
    attributes: { 'gen_ai.agent.name': 'Planner', välue: 'ünicode ✓', neg: -5, d: 1.5, b: true },
  });
  const call = tracer.startSpan(
    'chat',
    {
      kind: SpanKind.CLIENT,
      links: [{ context: root.spanContext(), attributes: { why: 'because' } }],
      attributes: { 'gen_ai.provider.name': 'openai', list: ['a', 'b'] },
    },
    trace.setSpan(context.active(), root),
  );
  call.recordException(new TypeError('boom'));
  call.setStatus({ code: 2, message: 'boom' });
  call.end();
  root.end();
  spans = memory.getFinishedSpans();
});

afterAll(() => {
  diag.disable();
  receiver.stop();
});

const exporters: [name: string, make: () => ProtobufExporter | JsonExporter][] = [
  ['protobuf', () => new ProtobufExporter({ url })],
  ['protobuf in gzip', () => new ProtobufExporter({ url, compression: gzip })],
  ['JSON', () => new JsonExporter({ url })],
];

/** CompressionAlgorithm.GZIP, which the exporters do not export. */
const gzip = 'gzip' as NonNullable<
  NonNullable<ConstructorParameters<typeof ProtobufExporter>[0]>['compression']
>;

async function exportWith(exporter: ProtobufExporter | JsonExporter): Promise<Uint8Array> {
  receiver.bodies.length = 0;
  const result = await new Promise((resolve) => exporter.export(spans, resolve));
  expect(result).toEqual({ code: 0 });
  await exporter.shutdown();
  expect(receiver.bodies).toHaveLength(1);
  return receiver.bodies[0]!;
}

it.each(exporters)("takes what OpenTelemetry's exporter sends as %s", async (_, make) => {
  const body = await exportWith(make());
  const { heads, rejectedCount } = scanSpans(body);
  expect(rejectedCount).toBe(0);
  const [call, root] = heads;
  expect(root).toMatchObject({
    name: 'invoke_agent Planner',
    service: 'planner',
    agent: 'Planner',
    host: 'h',
    kind: 2,
    parentSpanId: undefined,
    isError: false,
  });
  expect(call).toMatchObject({
    traceId: root?.traceId,
    parentSpanId: root?.spanId,
    kind: 3,
    isError: true,
    statusMessage: 'boom',
    errorCode: 'TypeError',
    callee: { type: 'model', name: 'openai' },
    genAi: { provider: 'openai' },
  });
});

it('reads the same spans of either form', async () => {
  const bodies = [
    await exportWith(new ProtobufExporter({ url })),
    await exportWith(new JsonExporter({ url })),
  ];
  const [traceId = ''] = spans.map((span) => span.spanContext().traceId);
  const [first, second] = bodies.map((body) => readSpans([body], traceId));
  expect(first).toHaveLength(2);
  expect(second).toEqual(first);
  expect(first).toMatchObject([
    { attributes: { välue: 'ünicode ✓', neg: -5, d: 1.5, b: true }, scope: { name: 'demo' } },
    { attributes: { list: ['a', 'b'] }, links: [{ attributes: { why: 'because' } }] },
  ]);
});

it.each(exporters)('says to the exporter of %s what was rejected', async (_, make) => {
  const warnings: string[] = [];
  const silent = () => undefined;
  const logger: DiagLogger = {
    error: silent,
    info: silent,
    debug: silent,
    verbose: silent,
    warn: (...parts) => void warnings.push(parts.join(' ')),
  };
  diag.setLogger(logger, { logLevel: DiagLogLevel.WARN, suppressOverrideMessage: true });
  receiver.rejected = { rejectedCount: 2, rejection: 'They are too long.' };
  await exportWith(make());
  receiver.rejected = { rejectedCount: 0, rejection: '' };
  expect(warnings.join('\n')).toContain('They are too long.');
});
