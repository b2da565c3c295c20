import { Client, compressionAlgorithms, credentials, Metadata, status } from '@grpc/grpc-js';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { exportBytesMax } from '../schemas/otlp.ts';
import { exportOf, newTraceId, startTracer } from '../testing.ts';

const path = '/opentelemetry.proto.collector.trace.v1.TraceService/Export';

let tracer: Awaited<ReturnType<typeof startTracer>>;

beforeAll(async () => {
  tracer = await startTracer();
});

afterAll(() => tracer[Symbol.asyncDispose]());

/** Sends a body as it is, compressed with gzip; answers the status. */
function send(body: Uint8Array, token?: string): Promise<status> {
  const client = new Client(`127.0.0.1:${tracer.grpcPort}`, credentials.createInsecure(), {
    'grpc.default_compression_algorithm': compressionAlgorithms.gzip,
    'grpc.use_local_subchannel_pool': 1,
  });
  const metadata = new Metadata();
  if (token !== undefined) metadata.set('authorization', `Bearer ${token}`);
  const pass = (bytes: Buffer) => bytes;
  return new Promise((resolve) => {
    client.makeUnaryRequest(path, pass, pass, Buffer.from(body), metadata, (error) => {
      client.close();
      resolve(error?.code ?? status.OK);
    });
  });
}

test('an export without a token, and one whose token may not write, is refused', async () => {
  const body = exportOf('shop', []);
  expect(await send(body)).toBe(status.UNAUTHENTICATED);
  const reader = await tracer.issuer.sign({ permissions: ['tracer:read'] });
  expect(await send(body, reader)).toBe(status.PERMISSION_DENIED);
});

test('an export that is none, or inflates to more than is taken, is refused', async () => {
  expect(await send(Buffer.of(10, 255, 255, 3), tracer.admin)).toBe(status.INVALID_ARGUMENT);
  const bomb = Buffer.alloc(exportBytesMax + 1);
  expect(await send(bomb, tracer.admin)).toBe(status.RESOURCE_EXHAUSTED);
});

test('a compressed export is stored when it is acknowledged', async () => {
  const traceId = newTraceId();
  const body = exportOf('shop', [{ traceId, spanId: '1'.repeat(16), from: 0, to: 5 }]);
  expect(await send(body, tracer.admin)).toBe(status.OK);
  const { status: code, body: detail } = await tracer.call('GET', `/api/v1/traces/${traceId}`);
  expect([code, detail.spans.length]).toEqual([200, 1]);
});
