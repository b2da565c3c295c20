import { ristretto255 } from '@noble/curves/ed25519.js';
import { createLocalJWKSet, decodeJwt, jwtVerify } from 'jose';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { inflateSync } from 'node:zlib';
import type { Bus } from '../../kit/bus/bus.ts';
import { openBus } from '../../kit/bus/open-bus.ts';
import type { Contract } from '../../kit/contract.ts';
import type { Database } from '../../kit/database/database.ts';
import { openTestTables } from '../../kit/database/testing.ts';
import { plainEnvelope } from '../../kit/envelope.ts';
import { Lifetime } from '../../kit/lifecycle.ts';
import { createTestServer, silentLog } from '../../kit/testing.ts';
import type { Agent } from '../agents/agent.ts';
import { attestationHandlers } from '../routes/attestation.ts';
import { attestationRoutes } from '../schemas/attestation.ts';
import { openAttestationParts } from './parts.ts';
import { ProofChecker } from './proof-checker.ts';
import { scalarOf } from './plain-ristretto-testing.ts';
import { createKeyPair, prove, randomChallenge, type KeyPair, type Proof } from './schnorr.ts';

const contract = {
  name: 'mesh',
  title: 'Attestation',
  version: '1.0.0',
  description: 'Attestation alone.',
  error: plainEnvelope.schema,
  routes: attestationRoutes,
} as const satisfies Contract;

/** An agent that tests attest, with its secret key. */
export interface KeyedAgent extends Agent {
  readonly keys: KeyPair;
}

/** An agent of an owner; what is named replaces the rest. */
function agentOf(agentId: string, given: Partial<Agent> = {}): KeyedAgent {
  const keys = createKeyPair();
  return {
    agentId,
    registrationId: 'reg_1',
    ownerId: 'usr_test',
    capabilities: ['code-review'],
    metadata: {},
    endpoints: {},
    status: 'active',
    load: 0,
    registeredAtMs: 0,
    lastSeenMs: 0,
    isIdempotent: false,
    publicKey: keys.publicKey,
    voteKey: undefined,
    ...given,
    keys,
  };
}

/** What a test reads of an answer; a wrong expectation fails it. */
// oxlint-disable-next-line typescript/no-explicit-any
export type Answered = any;

/** The address that the tokens of tests name. */
export const meshUrl = 'http://mesh.test';

/** What several replicas share, and a clock that tests set. */
export interface AttestationGround extends AsyncDisposable {
  readonly database: Database;
  /** The key files lie in its `secrets`. */
  readonly dataFolder: string;
  readonly agents: Map<string, Agent>;
  readonly checker: ProofChecker;
  readonly clock: { ms: number };
  /** A new agent that the mesh knows. */
  register(given?: Partial<Agent>): KeyedAgent;
}

/** A database with the tables of the mesh, and no agents yet. */
export async function openAttestationGround(): Promise<AttestationGround> {
  const lifetime = new Lifetime(silentLog);
  const migrations = new URL('../migrations/', import.meta.url);
  const database = lifetime.own('the database', await openTestTables('mesh', migrations));
  const dataFolder = await mkdtemp(join(tmpdir(), 'ennead-acap-'));
  lifetime.defer('the data folder', () => rm(dataFolder, { recursive: true }));
  const checker = lifetime.own('the checker', new ProofChecker());
  const agents = new Map<string, Agent>();
  let count = 0;
  return {
    database,
    dataFolder,
    agents,
    checker,
    clock: { ms: Date.now() },
    register: (given) => {
      count += 1;
      const agent = agentOf(`agent-${count}`, given);
      agents.set(agent.agentId, agent);
      return agent;
    },
    [Symbol.asyncDispose]: () => lifetime[Symbol.asyncDispose](),
  };
}

/** What the registry would have stored of an agent. */
export async function storeKey(
  database: Pick<Database, 'query'>,
  agentId: string,
  agent: Pick<Agent, 'ownerId' | 'publicKey'> | undefined,
): Promise<void> {
  await database.query(
    `with gone as (delete from mesh.agents where agent_id = $1 and $2::text is null)
     insert into mesh.agents (agent_id, registration_id, owner_id, capabilities, metadata, endpoints,
       is_idempotent, status, reported, heartbeat_interval, registered_at_ms, last_seen_ms, public_key)
     select $1, 'reg_1', $2, '[]', '{}', '{}', false, 'active', 'active', 30, 0, 0, $3
     where $2::text is not null
     on conflict (agent_id) do update set public_key = excluded.public_key`,
    [agentId, agent?.ownerId ?? null, agent?.publicKey ?? null],
  );
}

const permissionsOf: Readonly<Record<string, readonly string[]>> = {
  usr_reader: [],
  usr_admin: ['mesh:admin'],
};

export type TestMesh = Awaited<ReturnType<typeof startAttestation>>;

/** Attestation behind an HTTP edge, as one replica serves it. */
export async function startAttestation(
  { agents, clock, ...ground }: AttestationGround,
  given: { readonly bus?: Bus; readonly dataFolder?: string } = {},
) {
  const lifetime = new Lifetime(silentLog);
  const bus = given.bus ?? lifetime.own('the bus', await openBus({ log: silentLog }));
  const told: { type: string; agentId: string; data: Readonly<Record<string, unknown>> }[] = [];
  const parts = await openAttestationParts({
    database: ground.database,
    checker: ground.checker,
    dataFolder: given.dataFolder ?? ground.dataFolder,
    now: () => clock.ms,
    bus,
    agents: {
      find: (id) => agents.get(id),
      seek: async (id) => {
        await storeKey(ground.database, id, agents.get(id));
        return agents.get(id);
      },
    },
    activity: { tell: (type, agentId, data) => told.push({ type, agentId, data }) },
    url: meshUrl,
    log: silentLog,
  });
  lifetime.own('attestation', parts);
  const { http, issuer } = await createTestServer(contract);
  lifetime.defer('http', () => http.close(0));
  http.serve(contract, attestationHandlers(parts));
  const tokens = new Map<string, string>();
  const tokenOf = async (subject: string) => {
    const known = tokens.get(subject);
    if (known) return known;
    const permissions = permissionsOf[subject] ?? ['mesh:communicate'];
    const token = await issuer.sign({ sub: subject, permissions });
    tokens.set(subject, token);
    return token;
  };
  const post = async (path: string, body: object, subject = 'usr_test') => {
    const answer = await http.app.inject({
      method: 'POST',
      url: `/api/v1/acap/${path}`,
      headers: { authorization: `Bearer ${await tokenOf(subject)}` },
      payload: body,
    });
    return { status: answer.statusCode, body: answer.json() };
  };
  const get = (url: string, headers: Readonly<Record<string, string>> = {}) =>
    http.app.inject({ method: 'GET', url, headers });
  return {
    ...parts,
    told,
    post,
    get,
    [Symbol.asyncDispose]: () => lifetime[Symbol.asyncDispose](),
  };
}

/** The capability that the agents of tests prove. */
export const capability = 'code-review';

/** A good request to attest. */
export function requestOf(
  { agentId, keys }: KeyedAgent,
  bound: Readonly<Record<string, string>> = {},
) {
  const proof = prove(keys.secretKey, { agentId, capability, ...bound });
  return { agentId, capability, proof: { type: 'zero-knowledge', ...bound, ...proof } };
}

/** What answers a challenge without the secret key, for who may choose the commitment last. */
export function forgeAnswer(publicKey: string, challenge: string): Proof {
  const { Point } = ristretto255;
  const response = randomChallenge();
  const P = Point.fromHex(publicKey.slice(2));
  const [c, s] = [scalarOf(challenge.slice(2)), scalarOf(response.slice(2))];
  const R = Point.BASE.multiply(s).subtract(P.multiply(c));
  return { commitment: `0x${R.toHex()}`, challenge, response };
}

/** The answer to a good proof; throws when it is not accepted. */
export async function attestOf(mesh: TestMesh, agent: KeyedAgent): Promise<Answered> {
  const { body } = await mesh.post('attest', requestOf(agent));
  if (body.verified !== true) throw new Error(`not attested: ${JSON.stringify(body)}`);
  return body;
}

/** The whole answer of `verify` about an attestation. */
export async function verifyOf(
  mesh: TestMesh,
  { attestationId, agentId }: Answered,
): Promise<Answered> {
  const { body } = await mesh.post('verify', { attestationId, agentId, capability });
  return body;
}

/** What verifies the tokens of the mesh, as a stranger gets it. */
export async function keySetOf(mesh: TestMesh) {
  const answer = await mesh.get('/.well-known/jwks.json');
  return createLocalJWKSet(answer.json());
}

/** The bit of a token in its status list, read as a stranger does. */
export async function statusBitOf(mesh: TestMesh, token: string): Promise<number> {
  const { idx, uri } = decodeJwt<Answered>(token)['status'];
  const list = await mesh.get(uri.slice(meshUrl.length));
  const keys = await keySetOf(mesh);
  const { payload } = await jwtVerify<Answered>(list.body, keys, {
    subject: uri,
    typ: 'statuslist+jwt',
  });
  const bits = inflateSync(Buffer.from(payload['status_list'].lst, 'base64url'));
  return ((bits[idx >> 3] ?? Number.NaN) >> (idx & 7)) & 1;
}
