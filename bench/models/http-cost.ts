import type { Depth } from '../harness/depth.ts';
import { atMost, median, type Figure, type Row } from '../harness/figure.ts';
import { runRounds } from '../harness/rounds.ts';
import { HttpClient, type Batch } from './http-client.ts';
import type { BenchModel } from './model-files.ts';
import { Contestant } from './orders.ts';
import { modelName } from './ways/models-service.ts';

const text = 'water people number sound';
const options = { temperature: 0, seed: 1 };
const routes = [
  { path: '/v1/completions', body: { prompt: text, max_tokens: 1, ...options } },
  {
    path: '/api/generate',
    body: { prompt: text, raw: true, stream: false, options: { num_predict: 1, ...options } },
  },
] as const;

/** Of each contestant in a round; short, so that a machine that others use, too, treats all alike. */
const requests = 60;
/** Before the first round: a JIT needs some hundred. */
const warmUpRequests = 600;

interface Asked {
  readonly name: string;
  readonly ask: (count: number) => Promise<Batch>;
}

/**
 * What a request for one token costs more over HTTP than as a call of the runtime: time at one connection
 * that is kept, and CPU time of the service's own process; the client is in another one.
 */
export async function measureHttp(files: readonly BenchModel[], depth: Depth): Promise<Figure[]> {
  const [smallest] = files;
  if (!smallest) return [];
  await using client = await HttpClient.start(smallest.path);
  await using runtime = await Contestant.start('runtime', smallest.path);
  const order = { parallel: 1, promptWords: 4, answerTokens: 1 };
  const called: Asked = {
    name: 'the runtime, called',
    ask: (count) => runtime.carryOut({ ...order, requests: count }),
  };
  const posted = routes.map(({ path, body }): Asked => {
    const ask = (count: number) => client.postAll(path, { model: modelName, ...body }, count);
    return { name: `POST ${path}`, ask };
  });
  return await compare(called, posted, depth);
}

async function compare(called: Asked, posted: readonly Asked[], depth: Depth): Promise<Figure[]> {
  const all = [called, ...posted];
  for (const { ask } of all) await ask(warmUpRequests);
  const rounds = { rounds: depth.rounds * 5, warmUps: depth.warmUps };
  const batches = new Map<string, Batch[]>(all.map(({ name }) => [name, []]));
  const turns = all.map(({ name, ask }) => ({
    name,
    measure: async () => {
      const batch = await ask(requests);
      batches.get(name)?.push(batch);
      return median(batch.tookMs);
    },
  }));
  const timesOf = await runRounds(turns, rounds);
  const cpuOf = (name: string) =>
    (batches.get(name) ?? []).slice(rounds.warmUps).map(({ cpuMs }) => cpuMs / requests);
  const names = posted.map(({ name }) => name);
  const time = rowsOf(called.name, names, timesOf);
  const goal = atMost(1, 'ms');
  return [
    {
      title: 'Time of a request for one token at one connection, median',
      rows: time.map((row) => (row.name.startsWith(addedBy) ? { ...row, goal } : row)),
    },
    {
      title: 'CPU time of a request for one token, without the processes of model and client',
      rows: rowsOf(called.name, names, cpuOf),
    },
  ];
}

const addedBy = 'added by';

/** What was measured, and how much each of the names adds to the limit. */
function rowsOf(
  limit: string,
  names: readonly string[],
  samplesOf: (name: string) => readonly number[],
): Row[] {
  const without = samplesOf(limit);
  const addedOf = (name: string) =>
    samplesOf(name).map((sample, round) => sample - (without[round] ?? Number.NaN));
  return [
    { name: limit, role: 'limit', unit: 'ms', samples: without },
    ...names.flatMap((name): Row[] => [
      { name, role: 'ours', unit: 'ms', samples: samplesOf(name) },
      { name: `${addedBy} ${name}`, role: 'ours', unit: 'ms', samples: addedOf(name) },
    ]),
  ];
}
