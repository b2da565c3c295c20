import { ratioAtLeast, type Figure } from '../harness/figure.ts';
import { connections, type Shot } from '../harness/load.ts';
import { runRounds } from '../harness/rounds.ts';
import type { Depth } from '../harness/depth.ts';
import { LoginSessions, peerClient, Server, shotOf, type ServerKind } from './servers.ts';

const tokenCount = 512;
// A machine that others use changes its speed from one second to the next.
const roundsFactor = 3;
// Two processes of the same code differ by up to a sixth, for as long as they live.
const processes = 3;
const form = 'application/x-www-form-urlencoded';

/** Validations of one core in a second, beside a route that does nothing and oidc-provider's introspection. */
export async function measureValidation(depth: Depth): Promise<Figure[]> {
  const { requests } = depth;
  await using auths = await Crew.start('auth', processes, validationShots);
  await using noops = await Crew.start('noop', processes, () => Promise.resolve(auths.shots));
  await using peers = await Crew.start('peer', 1, introspectionShots);
  const contestant = (name: string, crew: Crew) => ({
    name,
    measure: () => crew.measure(requests),
  });
  const samplesOf = await runRounds(
    [contestant('ours', auths), contestant('noop', noops), contestant('peer', peers)],
    { rounds: depth.rounds * roundsFactor, warmUps: depth.warmUps * roundsFactor },
  );
  const unit = '/s per core';
  return [
    {
      title: 'Validation of a token',
      rows: [
        {
          name: 'POST /api/v1/auth/validate',
          role: 'ours',
          unit,
          samples: samplesOf('ours'),
          goal: ratioAtLeast(0.75),
        },
        {
          name: 'Fastify, a POST that reads the token and does nothing',
          role: 'limit',
          unit,
          samples: samplesOf('noop'),
        },
        {
          name: 'oidc-provider, introspection of an opaque token in memory',
          role: 'peer',
          unit,
          samples: samplesOf('peer'),
        },
      ],
      note: `${connections} connections, ${tokenCount} tokens of about 1 kB in turn; mean of ${processes} processes each`,
    },
  ];
}

const nothing: Shot = { method: 'POST', path: '/' };

interface Member {
  readonly server: Server;
  /** What is sent to it, in turn. */
  readonly shots: readonly Shot[];
}

/** Several processes of one kind, measured as one. */
class Crew implements AsyncDisposable {
  readonly #members: readonly Member[];

  private constructor(members: readonly Member[]) {
    this.#members = members;
  }

  static async start(
    kind: ServerKind,
    count: number,
    makeShots: (server: Server) => Promise<readonly Shot[]>,
  ): Promise<Crew> {
    const members: Member[] = [];
    for (let at = 0; at < count; at += 1) {
      const server = await Server.start(kind);
      members.push({ server, shots: await makeShots(server) });
    }
    return new Crew(members);
  }

  /** What its first process is sent. */
  get shots(): readonly Shot[] {
    return this.#members[0]?.shots ?? [];
  }

  /** Requests of one core in a second, after so many at each process. */
  async measure(requests: number): Promise<number> {
    let micros = 0;
    for (const { server, shots } of this.#members) {
      const step = (turn: number) => server.load.send(shots[turn % shots.length] ?? nothing);
      micros += await server.cpuMicrosPerStep(step, requests);
    }
    return (1e6 * this.#members.length) / micros;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const { server } of this.#members) await server[Symbol.asyncDispose]();
  }
}

async function validationShots(auth: Server): Promise<Shot[]> {
  const sessions = await LoginSessions.open(auth);
  const shots: Shot[] = [];
  await auth.load.repeat(async (_, connection) => {
    const token = await sessions.refresh(connection);
    shots.push(shotOf('/api/v1/auth/validate', { token }));
  }, tokenCount);
  for (const shot of shots) {
    const { valid } = JSON.parse(await auth.load.send(shot)) as { valid: boolean };
    if (!valid) throw new Error('a fresh token is not valid');
  }
  return shots;
}

async function introspectionShots(peer: Server): Promise<Shot[]> {
  const secret = Buffer.from(`${peerClient.id}:${peerClient.secret}`).toString('base64');
  const common = { method: 'POST', contentType: form, authorization: `Basic ${secret}` } as const;
  const grant = { ...common, path: '/token', body: 'grant_type=client_credentials' };
  const shots: Shot[] = [];
  await peer.load.repeat(async () => {
    const { access_token } = JSON.parse(await peer.load.send(grant)) as { access_token: string };
    const body = new URLSearchParams({ token: access_token }).toString();
    shots.push({ ...common, path: '/token/introspection', body });
  }, tokenCount);
  return shots;
}
