import type { Client } from '@modelcontextprotocol/client';
import assert from 'node:assert/strict';
import type { Depth } from '../harness/depth.ts';
import { atMost, type Figure } from '../harness/figure.ts';
import { addedTo, medianMs } from '../harness/latency.ts';
import { connections, type Shot } from '../harness/load.ts';
import { MeasuredChild } from '../harness/measured-child.ts';
import { runRounds } from '../harness/rounds.ts';
import { Contestant } from './contestant.ts';
import { echoInput, echoTool } from './echo-server.ts';
import { connect, openTarget, type Target, type TargetKind } from './targets.ts';

const names = {
  http: 'over HTTP',
  stdio: 'over stdio',
  everything: 'to server-everything over HTTP, with sessions',
} as const;

/** The most milliseconds that a call may take longer. */
const addedMsMax = { http: 1, stdio: 0.5, everything: 1 } as const;
const revision = '2026-07-28';
const echoed = `Echo: ${echoInput.message}`;

/** What a call through the registry costs beside the official client that speaks to the server itself. */
export async function measureCalls(kind: TargetKind, depth: Depth): Promise<Figure[]> {
  await using server = await openTarget(kind);
  const { target } = server;
  await using ours = await Contestant.ours();
  const id = await ours.register(registrationOf(target));
  const shots = { call: callShot(id), mcp: mcpShot };
  await settle(ours, shots.call);
  for (const shot of Object.values(shots)) {
    assert.ok((await ours.load.send(shot)).includes(echoed));
  }
  const direct = await connect(target);
  const through = await connect({ url: `${ours.url}/mcp` }, ours.tokens[0]);
  try {
    const timed = await measureTimes({ direct, through, ours, call: shots.call }, depth);
    const cpu = await measureCpu({ target, ours, shots }, depth);
    return [timeFigure(kind, timed), cpuFigure(kind, cpu)];
  } finally {
    await direct.close();
    await through.close();
  }
}

type Samples = (name: string) => readonly number[];

interface Ways {
  readonly direct: Client;
  readonly through: Client;
  readonly ours: Contestant;
  readonly call: Shot;
}

function measureTimes({ direct, through, ours, call }: Ways, depth: Depth): Promise<Samples> {
  const times = depth.requests / 6;
  const params = { name: echoTool, arguments: echoInput };
  const throughParams = { ...params, name: `target__${echoTool}` };
  const contestants = [
    { name: 'direct', step: () => direct.callTool(params) },
    { name: 'call', step: () => ours.load.send(call) },
    { name: 'mcp', step: () => through.callTool(throughParams) },
  ];
  return runRounds(
    contestants.map(({ name, step }) => ({ name, measure: () => medianMs(step, times) })),
    depth,
  );
}

interface Loads {
  readonly target: Target;
  readonly ours: Contestant;
  readonly shots: { readonly call: Shot; readonly mcp: Shot };
}

async function measureCpu({ target, ours, shots }: Loads, depth: Depth): Promise<Samples> {
  const module = new URL('client-child.js', import.meta.url);
  await using client = await MeasuredChild.start(module, ['call', JSON.stringify(target)]);
  const times = depth.requests / 3;
  return await runRounds(
    [
      { name: 'direct', measure: () => client.cpuMicrosPerOperation(times) },
      { name: 'call', measure: () => ours.cpuMicrosPerShot(() => shots.call, times) },
      { name: 'mcp', measure: () => ours.cpuMicrosPerShot(() => shots.mcp, times) },
    ],
    depth,
  );
}

function timeFigure(kind: TargetKind, samplesOf: Samples): Figure {
  const unit = 'ms';
  const direct = samplesOf('direct');
  const goal = atMost(addedMsMax[kind], unit);
  const added = (name: string) => addedTo(direct, samplesOf(name));
  return {
    title: `Time of a call ${names[kind]}, median of each round`,
    rows: [
      { name: 'the official client itself', role: 'limit', unit, samples: direct },
      {
        name: 'added by POST /connections/:id/call',
        role: 'ours',
        unit,
        samples: added('call'),
        goal,
      },
      {
        name: 'added by /mcp, the official client at both ends',
        role: 'ours',
        unit,
        samples: added('mcp'),
        goal,
      },
    ],
    note: 'wall time, one call after the other: only worth something on a quiet machine',
  };
}

function cpuFigure(kind: TargetKind, samplesOf: Samples): Figure {
  const unit = 'us';
  return {
    title: `CPU per call ${names[kind]}, the server's own not counted`,
    rows: [
      {
        name: 'ours: POST /connections/:id/call',
        role: 'ours',
        unit,
        samples: samplesOf('call'),
      },
      { name: 'ours: /mcp tools/call', role: 'ours', unit, samples: samplesOf('mcp') },
      { name: 'the official client', role: 'limit', unit, samples: samplesOf('direct') },
    ],
    note: `${connections} calls in flight; ours is a server as well as a client`,
  };
}

/** The first call may come before the first check. */
async function settle(ours: Contestant, shot: Shot): Promise<void> {
  for (let turn = 0; turn < 200; turn += 1) {
    await ours.load.send(shot);
    const listed = JSON.parse(await ours.load.send({ method: 'GET', path: '/connections' })) as {
      readonly connections: readonly { readonly capabilities: readonly unknown[] }[];
    };
    if ((listed.connections[0]?.capabilities.length ?? 0) > 0) return;
    await new Promise((resolve) => void setTimeout(resolve, 50));
  }
  throw new Error('the server was not learned');
}

function registrationOf(target: Target): object {
  const isProgram = 'args' in target;
  return {
    name: 'target',
    type: 'server',
    protocol: isProgram ? 'stdio' : 'http',
    endpoint: isProgram ? { command: process.execPath, args: target.args } : { url: target.url },
    healthCheck: { enabled: true, interval: 3_600, timeout: 20_000 },
  };
}

function callShot(id: string): Shot {
  return {
    method: 'POST',
    path: `/connections/${id}/call`,
    body: JSON.stringify({ tool: echoTool, arguments: echoInput }),
  };
}

const mcpShot: Shot = {
  method: 'POST',
  path: '/mcp',
  headers: {
    accept: 'application/json, text/event-stream',
    'mcp-protocol-version': revision,
    'mcp-method': 'tools/call',
    'mcp-name': `target__${echoTool}`,
  },
  body: JSON.stringify({
    jsonrpc: '2.0',
    id: 1,
    method: 'tools/call',
    params: {
      name: `target__${echoTool}`,
      arguments: echoInput,
      _meta: {
        'io.modelcontextprotocol/protocolVersion': revision,
        'io.modelcontextprotocol/clientInfo': { name: 'bench', version: '1.0.0' },
        'io.modelcontextprotocol/clientCapabilities': {},
      },
    },
  }),
};
