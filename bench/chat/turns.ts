import { Agent, request } from 'node:http';
import type { Depth } from '../harness/depth.ts';
import { atMost, median, type Figure } from '../harness/figure.ts';
import { addedTo } from '../harness/latency.ts';
import { MeasuredChild } from '../harness/measured-child.ts';
import { runRounds } from '../harness/rounds.ts';

/** Where a child answers, as whom, and in which conversations. */
export interface TurnsHello {
  readonly url: string;
  readonly token: string;
  readonly conversations: readonly string[];
}

type Child = MeasuredChild<TurnsHello>;

const child = new URL('turns-child.js', import.meta.url);
const tokenCount = 200;
const agent = new Agent({ keepAlive: true });

interface Timed {
  readonly firstMs: number;
  readonly cpuPerTokenMicros: number;
}

/** What a user waits for the first token besides the gateway, and what each token costs. */
export async function measureTurns(depth: Depth): Promise<Figure[]> {
  const args = [String(tokenCount)];
  await using gateway = await MeasuredChild.start<TurnsHello>(child, ['gateway', ...args]);
  const { url } = gateway.hello;
  await using bare = await MeasuredChild.start<TurnsHello>(child, ['bare', ...args, url]);
  await using ours = await MeasuredChild.start<TurnsHello>(child, ['ours', ...args, url]);
  const turns = Math.max(10, Math.round(200 / depth.shortening));
  const cpu = new Map<string, number[]>();
  const contestant = (name: string, process: Child) => ({
    name,
    measure: async () => {
      const { firstMs, cpuPerTokenMicros } = await timeTurns(process, turns);
      cpu.set(name, [...(cpu.get(name) ?? []), cpuPerTokenMicros]);
      return firstMs;
    },
  });
  const samplesOf = await runRounds(
    [contestant('gateway', gateway), contestant('bare', bare), contestant('ours', ours)],
    depth,
  );
  const cpuOf = (name: string) => (cpu.get(name) ?? []).slice(depth.warmUps);
  const direct = samplesOf('gateway');
  const added = (name: string) => addedTo(direct, samplesOf(name));
  return [
    {
      title: 'Time to the first token at one connection, median of each round',
      rows: [
        { name: 'the gateway itself', role: 'limit', unit: 'ms', samples: direct },
        { name: 'added by a bare proxy', role: 'check', unit: 'ms', samples: added('bare') },
        {
          name: 'added by a turn',
          role: 'ours',
          unit: 'ms',
          samples: added('ours'),
          goal: atMost(2, 'ms'),
        },
      ],
      note: 'With the question stored, in conversations of up to 18 messages. Wall time: only worth something on a quiet machine.',
    },
    {
      title: `CPU time a token, of answers with ${tokenCount}`,
      rows: [
        { name: 'a bare proxy', role: 'limit', unit: 'us', samples: cpuOf('bare') },
        { name: 'a turn', role: 'ours', unit: 'us', samples: cpuOf('ours') },
      ],
      note: 'With all that a turn costs, its statements on PGlite in the same process too.',
    },
  ];
}

async function timeTurns(process: Child, turns: number): Promise<Timed> {
  const before = await process.cpuMicros();
  const firsts: number[] = [];
  for (let turn = 0; turn < turns; turn += 1) firsts.push(await timeTurn(process.hello, turn));
  const cpuMicros = (await process.cpuMicros()) - before;
  return { firstMs: median(firsts), cpuPerTokenMicros: cpuMicros / turns / tokenCount };
}

/** Milliseconds until the first token; resolves when all have come. */
function timeTurn({ url, token, conversations }: TurnsHello, turn: number): Promise<number> {
  const id = conversations[turn % conversations.length];
  const messages = [{ role: 'user', content: 'How many roads must a man walk down?' }];
  const body = JSON.stringify({ messages, stream: true, ...(id ? { conversation_id: id } : {}) });
  const headers = {
    'content-type': 'application/json',
    'content-length': Buffer.byteLength(body),
    authorization: `Bearer ${token}`,
  };
  return new Promise((resolve, reject) => {
    const startedAt = performance.now();
    let firstMs: number | undefined;
    const sent = request(
      `${url}/api/chat/stream`,
      { method: 'POST', agent, headers },
      (response) => {
        response.on('data', () => (firstMs ??= performance.now() - startedAt));
        response.on('end', () => {
          if (response.statusCode === 200 && firstMs !== undefined) resolve(firstMs);
          else reject(new Error(`a turn was answered with status ${response.statusCode}`));
        });
      },
    );
    sent.on('error', reject);
    sent.end(body);
  });
}
