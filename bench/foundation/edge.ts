import assert from 'node:assert/strict';
import { ratioAtMost, type Figure, type Row } from '../harness/figure.ts';
import { connections, Load, type Shot } from '../harness/load.ts';
import { MeasuredChild } from '../harness/measured-child.ts';
import { runRounds, type Contestant } from '../harness/rounds.ts';
import type { Depth } from '../harness/depth.ts';
import type { EdgeHello } from './edge-child.ts';
import { busyMicros, getModel, postBusyChat, postChat } from './edge-contract.ts';

interface Server {
  readonly child: MeasuredChild<EdgeHello>;
  readonly load: Load;
}

/** CPU time per request of the kit beside a bare Fastify that gets the same bytes. */
export async function measureEdge(depth: Depth): Promise<Figure[]> {
  await using kitChild = await startServer('kit');
  await using bareChild = await startServer('bare');
  const { tokens } = kitChild.hello;
  await using kitLoad = new Load(kitChild.hello.url, tokens);
  await using bareLoad = new Load(bareChild.hello.url, tokens);
  const kit = { child: kitChild, load: kitLoad };
  const bare = { child: bareChild, load: bareLoad };
  await requireSameAnswers(kit, bare);
  const samplesOf = await runRounds(
    [
      ...contestantsOf(postChat, { kit, bare }, depth),
      { name: 'POST busy', measure: () => microsPerRequest(bare, postBusyChat, depth.requests) },
      ...contestantsOf(getModel, { kit, bare }, depth),
    ],
    { rounds: depth.rounds, warmUps: depth.warmUps },
  );
  const bytes = Buffer.byteLength(postChat.body ?? '');
  const note = `${connections} connections, ${tokens.length} tokens in turn, ${depth.requests} requests a round`;
  return [
    {
      title: `CPU per POST of ${bytes} bytes`,
      rows: [...rowsOf('POST', samplesOf), busyRow(samplesOf('POST busy'))],
      note,
    },
    { title: 'CPU per GET', rows: rowsOf('GET', samplesOf), note },
  ];
}

function startServer(kind: 'kit' | 'bare') {
  return MeasuredChild.start<EdgeHello>(new URL('edge-child.js', import.meta.url), [kind]);
}

function contestantsOf(
  shot: Shot,
  { kit, bare }: { readonly kit: Server; readonly bare: Server },
  { requests }: Depth,
): Contestant[] {
  const openShot = { ...shot, path: `/open${shot.path}` };
  return [
    { name: `${shot.method} kit`, measure: () => microsPerRequest(kit, shot, requests) },
    { name: `${shot.method} open`, measure: () => microsPerRequest(kit, openShot, requests) },
    { name: `${shot.method} bare`, measure: () => microsPerRequest(bare, shot, requests) },
  ];
}

/** The server's own CPU time over the requests; the load runs in this process and does not count. */
async function microsPerRequest({ child, load }: Server, shot: Shot, requests: number) {
  const before = await child.cpuMicros();
  await load.fire(shot, requests);
  return ((await child.cpuMicros()) - before) / requests;
}

function rowsOf(method: string, samplesOf: (name: string) => readonly number[]): Row[] {
  const row = { unit: 'us' };
  return [
    {
      ...row,
      name: 'kit: token, permission, rate limit, span, schemas',
      role: 'ours',
      samples: samplesOf(`${method} kit`),
      goal: ratioAtMost(2),
    },
    {
      ...row,
      name: 'kit, open route: schemas and request id only',
      role: 'ours',
      samples: samplesOf(`${method} open`),
    },
    {
      ...row,
      name: 'bare Fastify: Ajv, response schema',
      role: 'limit',
      samples: samplesOf(`${method} bare`),
    },
  ];
}

/** Unless this row stands about 20 us above the limit, something else than the servers was measured. */
function busyRow(samples: readonly number[]): Row {
  const name = `bare Fastify and ${busyMicros} us of work: +${busyMicros} or distrust`;
  return { name, role: 'check', unit: 'us', samples };
}

/** A comparison is fair only between servers that do the same. */
async function requireSameAnswers(kit: Server, bare: Server): Promise<void> {
  for (const shot of [postChat, getModel]) {
    const ours = await kit.load.send(shot);
    assert.equal(ours, await bare.load.send(shot), `${shot.path} is answered differently`);
    assert.ok(!ours.includes('secret'), `${shot.path} is not filtered`);
  }
}
