import { expect, test } from 'vitest';
import type { Attestation } from './attestation.ts';
import { LiveAttestations } from './live-attestations.ts';

const attestation: Attestation = {
  attestationId: 'att_1',
  statusIndex: 5,
  agentId: 'agent-1',
  capability: 'chat',
  publicKey: '0x01',
  ownerId: 'usr_1',
  kid: 'key-1',
  verifiedAtMs: 0,
  validUntilMs: 100,
  revokedAtMs: undefined,
};
const now = { publicKey: '0x01', nowMs: 50, isSigned: () => true };

test('what was revoked stays so, whatever is read late', () => {
  const live = new LiveAttestations();
  live.note({ ...attestation, revokedAtMs: 20 });
  live.note(attestation);
  expect(live.isAttested('agent-1', 'chat', now)).toBe(false);
});

test('one of several that is revoked leaves the others good', () => {
  const live = new LiveAttestations();
  live.note(attestation);
  live.note({ ...attestation, attestationId: 'att_2' });
  live.note({ ...attestation, revokedAtMs: 20 });
  expect(live.isAttested('agent-1', 'chat', now)).toBe(true);
  live.note({ ...attestation, attestationId: 'att_2', revokedAtMs: 30 });
  expect(live.isAttested('agent-1', 'chat', now)).toBe(false);
});

test('nothing is good after its end, with another key or signed by one that was withdrawn, swept or not', () => {
  const live = new LiveAttestations();
  live.note(attestation);
  expect(live.isAttested('agent-1', 'chat', { ...now, nowMs: 100 })).toBe(false);
  expect(live.isAttested('agent-1', 'chat', { ...now, publicKey: '0x02' })).toBe(false);
  const isSigned = ({ kid }: Attestation) => kid !== 'key-1';
  expect(live.isAttested('agent-1', 'chat', { ...now, isSigned })).toBe(false);
  live.sweep(99);
  expect(live.isAttested('agent-1', 'chat', now)).toBe(true);
  live.sweep(100);
  expect(live.isAttested('agent-1', 'chat', now)).toBe(false);
  expect(live.newestIndex).toBe(5);
});
