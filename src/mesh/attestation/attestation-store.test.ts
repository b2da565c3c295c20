import { expect, test } from 'vitest';
import { insertAttestations, type NewAttestation } from './attestation-store.ts';
import { openAttestationGround } from './testing.ts';

function attestationOf(id: number, commitment: string): NewAttestation {
  return {
    attestationId: `att_${id}`,
    agentId: 'agent-1',
    capability: 'chat',
    publicKey: '0x01',
    ownerId: 'usr_1',
    kid: 'key-1',
    verifiedAtMs: 1_000,
    validUntilMs: 2_000,
    commitment,
  };
}

test('of those that are stored together, one of each commitment is', async () => {
  await using ground = await openAttestationGround();
  const { database } = ground;
  const [one, other] = ['aa'.repeat(32), 'bb'.repeat(32)];
  const given = [attestationOf(1, one), attestationOf(2, one), attestationOf(3, other)];
  const stored = await insertAttestations(database, given);
  expect(stored.map(({ attestationId }) => attestationId).toSorted()).toEqual(['att_1', 'att_3']);
  expect(new Set(stored.map(({ statusIndex }) => statusIndex)).size).toBe(2);
  expect(await insertAttestations(database, [attestationOf(4, other)])).toEqual([]);
});
