import type { MethodDefinition } from '@grpc/grpc-js';
import { loadDefinition } from '../../src/mesh/grpc/definition.ts';
import { toTaskRequest } from '../../src/mesh/grpc/messages.ts';
import type { Depth } from '../harness/depth.ts';
import { ratioAtMost, type Figure } from '../harness/figure.ts';
import { MeasuredChild } from '../harness/measured-child.ts';
import { runRounds } from '../harness/rounds.ts';
import { queryOf } from './agents.ts';
import { Contestant, type OursHello } from './contestant.ts';
import { echoAgent, task } from './exchange.ts';
import { framed, RawGrpcClient, type GrpcLimit, type RawCall } from './grpc-client.ts';

/** CPU time of calls over gRPC with mutual TLS, beside plain http2 and grpc-js with the same bytes. */
export async function measureGrpc(depth: Depth): Promise<Figure[]> {
  await using ours = await Contestant.ours('full');
  const { DiscoverAgents, ExecuteTask } = (await loadDefinition()).services.AgentCommunication;
  const asked = { ...task, taskId: '', timeoutMs: 30_000, priority: 'normal' } as const;
  // A caller's, who gives no id and no key: each is a task of its own.
  const anew = { taskId: undefined, idempotencyKey: undefined };
  const request = { ...toTaskRequest(echoAgent, asked), ...anew };
  return [
    await measureCall('DiscoverAgents', callOf(DiscoverAgents, queryOf(1)), { ours, depth }),
    await measureCall('ExecuteTask by an agent of the process', callOf(ExecuteTask, request), {
      ours,
      depth,
    }),
  ];
}

function callOf(method: unknown, request: object): RawCall {
  const { path, requestSerialize } = method as MethodDefinition<object, object>;
  return { path, frame: framed(requestSerialize(request)) };
}

interface Ground {
  readonly ours: Contestant<OursHello>;
  readonly depth: Depth;
}

async function measureCall(name: string, call: RawCall, { ours, depth }: Ground): Promise<Figure> {
  const { grpcPort, client, server } = ours.hello;
  using oursClient = await RawGrpcClient.open(grpcPort, client);
  const answer = await oursClient.call(call);
  const limitOf = (kind: GrpcLimit['kind']): GrpcLimit => ({
    kind,
    server,
    answer: answer.toString('base64'),
    path: call.path,
  });
  await using plain = await startLimit(limitOf('http2'));
  await using library = await startLimit(limitOf('grpc-js'));
  using plainClient = await RawGrpcClient.open(plain.hello.port, client);
  using libraryClient = await RawGrpcClient.open(library.hello.port, client);
  const perCall = async (
    cpuMicrosOf: (work: () => Promise<unknown>) => Promise<number>,
    raw: RawGrpcClient,
  ) => (await cpuMicrosOf(() => raw.repeat(call, depth.requests))) / depth.requests;
  const samplesOf = await runRounds(
    [
      { name: 'ours', measure: () => perCall((work) => ours.cpuMicrosOf(work), oursClient) },
      { name: 'http2', measure: () => perCall((work) => cpuOf(plain, work), plainClient) },
      { name: 'grpc-js', measure: () => perCall((work) => cpuOf(library, work), libraryClient) },
    ],
    depth,
  );
  const unit = 'us';
  return {
    title: `CPU per call over gRPC with mutual TLS: ${name}`,
    rows: [
      {
        name: 'ours: certificate, limits, schema, work',
        role: 'ours',
        unit,
        samples: samplesOf('ours'),
        goal: ratioAtMost(1.7),
      },
      { name: 'node:http2 over TLS', role: 'limit', unit, samples: samplesOf('http2') },
      {
        name: 'grpc-js without a codec',
        role: 'check',
        unit,
        samples: samplesOf('grpc-js'),
      },
    ],
    note: `64 calls at once on one connection; the client is node:http2; ${answer.length} bytes`,
  };
}

type LimitChild = MeasuredChild<{ readonly port: number }>;

function startLimit(limit: GrpcLimit): Promise<LimitChild> {
  const module = new URL('grpc-limit-child.js', import.meta.url);
  return MeasuredChild.start(module, [JSON.stringify(limit)]);
}

async function cpuOf(child: LimitChild, work: () => Promise<unknown>): Promise<number> {
  const before = await child.cpuMicros();
  await work();
  return (await child.cpuMicros()) - before;
}
