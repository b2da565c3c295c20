import type { Depth } from '../harness/depth.ts';
import { atLeast, type Figure, type Row } from '../harness/figure.ts';
import { runRounds } from '../harness/rounds.ts';
import { registrationOf } from './agents.ts';
import { Contestant } from './contestant.ts';
import { withPeers, type Peer } from './peers.ts';

/** Registrations that wait at the same time: they come in crowds. */
const inFlight = 256;

/** Registrations that are durable in a second, beside a bare server that stores nothing. */
export async function measureRegistration(depth: Depth): Promise<Figure[]> {
  await using ours = await Contestant.ours('empty', inFlight);
  await using bare = await Contestant.limit('bare', '{}', inFlight);
  const registrations = new Registrations();
  await registrations.send(ours, 1, 201);
  return await withPeers(['etcd', 'redis'], async (peers, note) => {
    const times = Math.ceil(depth.requests / 2);
    const cpu = await runRounds(
      [
        {
          name: 'ours',
          measure: () => registrations.cpuMicros(ours, times, 201),
        },
        { name: 'bare', measure: () => registrations.cpuMicros(bare, times, 200) },
        ...peers.map((peer) => ({
          name: peer.name,
          measure: () => peer.cpuMicrosPerPut(times),
        })),
      ],
      depth,
    );
    const clock = await runRounds(
      [
        { name: 'ours', measure: () => registrations.perSecond(ours, times, 201) },
        { name: 'bare', measure: () => registrations.perSecond(bare, times, 200) },
        ...peers.map((peer) => ({ name: peer.name, measure: () => peer.putsPerSecond(times) })),
      ],
      depth,
    );
    const rate = (micros: number) => 1e6 / micros;
    const perCore = (name: string) => cpu(name).map(rate);
    return [
      figureOf('Durable registrations, of one core', { samplesOf: perCore, peers, note }),
      figureOf('Durable registrations, by the clock, client and disk included', {
        samplesOf: clock,
        peers,
        note: `${note}; the clock counts what others do on this machine`,
      }),
    ];
  });
}

interface Measured {
  readonly samplesOf: (name: string) => readonly number[];
  readonly peers: readonly Peer[];
  readonly note: string;
}

function figureOf(title: string, { samplesOf, peers, note }: Measured): Figure {
  const unit = '/s';
  const rows: Row[] = [
    {
      name: 'ours, PGlite: token, limits, span, event',
      role: 'ours',
      unit,
      samples: samplesOf('ours'),
      goal: atLeast(3_000, unit),
    },
    {
      name: 'bare: node:http that stores nothing',
      role: 'limit',
      unit,
      samples: samplesOf('bare'),
    },
    ...peers.map(({ name, put }) => ({
      name: `${name}, ${put}`,
      role: 'peer' as const,
      unit,
      samples: samplesOf(name),
    })),
  ];
  return { title, rows, note: `${inFlight} in flight, 64 of the peers${note}` };
}

/** Registers agents that were never there. */
class Registrations {
  #count = 0;

  async send({ load }: Contestant, times: number, status: number): Promise<void> {
    await load.repeat(async (turn) => {
      this.#count += 1;
      const body = JSON.stringify(registrationOf(`new-${this.#count}`, this.#count));
      const shot = { method: 'POST', path: '/api/v1/agents/register', body, status } as const;
      await load.send(shot, turn);
    }, times);
  }

  async cpuMicros(to: Contestant, times: number, status: number): Promise<number> {
    return (await to.cpuMicrosOf(() => this.send(to, times, status))) / times;
  }

  async perSecond(to: Contestant, times: number, status: number): Promise<number> {
    const startedAt = performance.now();
    await this.send(to, times, status);
    return (times * 1_000) / (performance.now() - startedAt);
  }
}
