import assert from 'node:assert/strict';
import type { Conversation, Message } from '../../src/chat/conversations/conversation.ts';
import { Lifetime } from '../../src/kit/lifecycle.ts';
import { silentLog } from '../../src/kit/testing.ts';
import type { Depth } from '../harness/depth.ts';
import type { Figure, Row } from '../harness/figure.ts';
import { Load, type Shot } from '../harness/load.ts';
import { MeasuredChild } from '../harness/measured-child.ts';
import { runRounds } from '../harness/rounds.ts';

export interface ListsHello {
  readonly url: string;
  readonly tokens: readonly string[];
}

const query = '{ conversations(limit: 10) { id title messages(limit: 10) { id content } } }';
const shot: Shot = { method: 'POST', path: '/graphql', body: JSON.stringify({ query }) };
const requests = 2_000;

const contestants: readonly Pick<Row, 'name' | 'role'>[] = [
  { name: 'bytes', role: 'limit' },
  { name: 'ours', role: 'ours' },
  { name: 'yoga', role: 'peer' },
  { name: 'mercurius', role: 'peer' },
  { name: 'mercurius-jit', role: 'peer' },
];

/** What every contestant answers. */
export function listAnswer(
  conversations: readonly Conversation[],
  messagesOf: ReadonlyMap<string, readonly Message[]>,
) {
  const list = conversations.map(({ id, title }) => ({
    id,
    title,
    messages: (messagesOf.get(id) ?? []).map((message) => ({
      id: message.id,
      content: message.content,
    })),
  }));
  return { data: { conversations: list } };
}

/** CPU time of a list of ten conversations with ten messages each, beside other GraphQL servers. */
export async function measureLists({ rounds, warmUps }: Depth): Promise<Figure[]> {
  await using lifetime = new Lifetime(silentLog);
  const servers = new Map<string, { child: MeasuredChild<ListsHello>; load: Load }>();
  for (const { name } of contestants) {
    const module = new URL('lists-child.js', import.meta.url);
    const child = lifetime.own(name, await MeasuredChild.start<ListsHello>(module, [name]));
    const load = lifetime.own('its load', new Load(child.hello.url, child.hello.tokens));
    servers.set(name, { child, load });
  }
  const expected: unknown = JSON.parse((await servers.get('bytes')?.load.send(shot)) ?? '');
  for (const { load } of servers.values())
    assert.deepEqual(JSON.parse(await load.send(shot)), expected);
  const samplesOf = await runRounds(
    [...servers].map(([name, { child, load }]) => ({
      name,
      measure: async () => {
        const before = await child.cpuMicros();
        await load.fire(shot, requests);
        return ((await child.cpuMicros()) - before) / requests;
      },
    })),
    { rounds, warmUps },
  );
  const rows = contestants.map(({ name, role }) => ({
    name,
    role,
    unit: 'us',
    samples: samplesOf(name),
  }));
  return [
    {
      title: 'CPU per GraphQL list of 10 conversations with 10 messages each',
      rows,
      note: 'data in memory; ours with token, rate limit, span and limits, the others without',
    },
  ];
}
