import { afterAll, beforeAll, expect, test } from 'vitest';
import { insertAttestations, type NewAttestation } from './attestation-store.ts';
import {
  openAttestationGround,
  startAttestation,
  storeKey,
  type AttestationGround,
  type TestMesh,
} from './testing.ts';

const publicKey = '0x01';

let ground: AttestationGround;
let mesh: TestMesh;

beforeAll(async () => {
  ground = await openAttestationGround();
  mesh = await startAttestation(ground);
  await storeKey(ground.database, 'agent-1', { ownerId: 'usr_1', publicKey });
});

afterAll(async () => {
  await mesh?.[Symbol.asyncDispose]();
  await ground?.[Symbol.asyncDispose]();
});

let count = 0;

function attestationOf(commitment: string, given: Partial<NewAttestation> = {}): NewAttestation {
  count += 1;
  return {
    attestationId: `att_${count}`,
    agentId: 'agent-1',
    capability: 'chat',
    publicKey,
    ownerId: 'usr_1',
    kid: mesh.keys.key.kid,
    verifiedAtMs: ground.clock.ms,
    validUntilMs: ground.clock.ms + 1_000,
    commitment: commitment.repeat(32),
    ...given,
  };
}

const storeAll = async (...given: NewAttestation[]) => [
  ...(await insertAttestations(ground.database, given)).values(),
];

test('of those that are stored together, one of each commitment is', async () => {
  const [one, two, three] = [attestationOf('aa'), attestationOf('aa'), attestationOf('bb')];
  const stored = await insertAttestations(ground.database, [one, two, three]);
  expect(stored.get(one.attestationId)).toMatchObject({ attestationId: one.attestationId });
  expect(stored.get(two.attestationId)).toBe('commitment_used');
  expect(stored.get(three.attestationId)).toMatchObject({ attestationId: three.attestationId });
  expect(await storeAll(attestationOf('bb'))).toEqual(['commitment_used']);
});

test('nothing is stored for a key that the agent has no more, nor by one that was withdrawn', async () => {
  const foreign = attestationOf('cc', { publicKey: '0x02' });
  const gone = attestationOf('dd', { agentId: 'agent-2' });
  const withdrawn = attestationOf('ee', { kid: 'other' });
  expect(await storeAll(foreign, gone, withdrawn)).toEqual([
    'key_changed',
    'key_changed',
    'key_withdrawn',
  ]);
  // No commitment was spent.
  expect(await storeAll(attestationOf('cc'))).toMatchObject([{ agentId: 'agent-1' }]);
});
