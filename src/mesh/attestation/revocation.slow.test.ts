import { decodeProtectedHeader, jwtVerify } from 'jose';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { openBus } from '../../kit/bus/open-bus.ts';
import { silentLog } from '../../kit/testing.ts';
import {
  attestOf,
  capability,
  keySetOf,
  openAttestationGround,
  requestOf,
  startAttestation,
  statusBitOf,
  verifyOf,
  type Answered,
} from './testing.ts';

const ground = await openAttestationGround();
const { clock, database, register } = ground;
const mesh = await startAttestation(ground);

afterAll(async () => {
  await mesh[Symbol.asyncDispose]();
  await ground[Symbol.asyncDispose]();
});

describe('revoke', () => {
  test('is for the owner', async () => {
    const { attestationId } = await attestOf(mesh, register());
    const { status, body } = await mesh.post('revoke', { attestationId }, 'usr_other');
    expect([status, body.error.code]).toEqual([403, 'NOT_AGENT_OWNER']);
    const unknown = await mesh.post('revoke', { attestationId: 'att_0' });
    expect([unknown.status, unknown.body.error.code]).toEqual([404, 'ATTESTATION_NOT_FOUND']);
  });

  test('ends an attestation for good: online, in discovery and in its status list', async () => {
    const body = await attestOf(mesh, register());
    const { attestationId, agentId } = body;
    expect(await statusBitOf(mesh, body.token)).toBe(0);
    const revokedAt = new Date(clock.ms).toISOString();
    const order = { attestationId, reason: 'key lost' };
    const first = await mesh.post('revoke', order);
    expect(first.body).toEqual({ attestationId, revoked: true, revokedAt });
    clock.ms += 1_000;
    expect((await mesh.post('revoke', order)).body).toEqual(first.body);
    expect(await verifyOf(mesh, body)).toMatchObject({ valid: false, reason: 'revoked' });
    expect(mesh.attestations.isAttested(agentId, capability)).toBe(false);
    expect(await statusBitOf(mesh, body.token)).toBe(1);
    const told = mesh.told.filter(({ type: kind }) => kind === 'attestation-revoked');
    expect(told).toEqual([
      {
        type: 'attestation-revoked',
        agentId,
        data: { attestationId, capability, reason: 'key lost' },
      },
    ]);
  });

  test("is open to the agent's certificate and to administrators", async () => {
    const agent = register();
    const one = await attestOf(mesh, agent);
    const two = await attestOf(mesh, agent);
    await mesh.attestations.revoke(one.attestationId, {
      by: { agentId: agent.agentId, permissions: [] },
    });
    await mesh.attestations.revoke(two.attestationId, {
      by: { subject: 'usr_root', permissions: ['mesh:admin'] },
    });
    expect((await verifyOf(mesh, one)).reason).toBe('revoked');
    expect((await verifyOf(mesh, two)).reason).toBe('revoked');
  });

  test('ends all of an agent that leaves', async () => {
    const agent = register();
    const bodies = [await attestOf(mesh, agent), await attestOf(mesh, agent)];
    await mesh.attestations.revokeAll(agent.agentId, 'the agent has left');
    for (const body of bodies) {
      expect((await verifyOf(mesh, body)).reason).toBe('revoked');
      expect(await statusBitOf(mesh, body.token)).toBe(1);
    }
    expect(mesh.attestations.isAttested(agent.agentId, capability)).toBe(false);
  });
});

describe('what others verify with', () => {
  test('is not sent again to those who have it', async () => {
    await attestOf(mesh, register());
    for (const url of ['/.well-known/jwks.json', '/api/v1/acap/status-lists/0']) {
      const first = await mesh.get(url);
      expect([first.statusCode, first.headers['cache-control']]).toEqual([
        200,
        expect.stringContaining('max-age='),
      ]);
      const again = await mesh.get(url, { 'if-none-match': String(first.headers['etag']) });
      expect([again.statusCode, again.body]).toEqual([304, '']);
    }
  });

  test('is no list in which nothing has a place', async () => {
    const { statusCode } = await mesh.get('/api/v1/acap/status-lists/7');
    expect(statusCode).toBe(404);
    expect((await mesh.get('/api/v1/acap/status-lists/x')).statusCode).toBe(400);
  });

  test('is never the secret half, in the database neither', async () => {
    const rows = await database.query<Answered>('select * from mesh.attestation_keys');
    const text = JSON.stringify(rows);
    expect(rows).toHaveLength(1);
    expect(text).toContain('key-1.');
    expect(text).not.toContain('"d"');
    const { keys } = (await mesh.get('/.well-known/jwks.json')).json();
    expect(Object.keys(keys[0]).toSorted()).toEqual(['alg', 'crv', 'kid', 'kty', 'use', 'x']);
  });
});

describe('several replicas, and one that starts again', () => {
  test('agree on what is attested, revoked and spent', async () => {
    const bus = await openBus({ log: silentLog });
    const a = await startAttestation(ground, { bus });
    const b = await startAttestation(ground, { bus });
    const agent = register();
    const request = requestOf(agent);
    const raced = await Promise.all([a.post('attest', request), b.post('attest', request)]);
    const accepted = raced.filter(({ body }) => body.verified);
    expect(accepted).toHaveLength(1);
    const body: Answered = accepted[0]?.body;
    expect(a.attestations.isAttested(agent.agentId, capability)).toBe(true);
    expect(b.attestations.isAttested(agent.agentId, capability)).toBe(true);
    expect(decodeProtectedHeader(body.token).kid).toBe(a.keys.published[0]?.kid);
    expect(b.keys.published).toEqual(a.keys.published);
    await b.post('revoke', { attestationId: body.attestationId });
    expect(a.attestations.isAttested(agent.agentId, capability)).toBe(false);
    for (const replica of [a, b, bus]) await replica[Symbol.asyncDispose]();
  });

  test('learn from the database what the bus did not bring', async () => {
    const cutOff = await startAttestation(ground);
    const [kept, ended] = [register(), register()];
    const { attestationId } = await attestOf(mesh, ended);
    await cutOff.feed.sweep();
    expect(cutOff.attestations.isAttested(ended.agentId, capability)).toBe(true);
    await mesh.post('revoke', { attestationId });
    await attestOf(mesh, kept);
    expect(cutOff.attestations.isAttested(ended.agentId, capability)).toBe(true);
    await cutOff.feed.sweep();
    expect(cutOff.attestations.isAttested(ended.agentId, capability)).toBe(false);
    expect(cutOff.attestations.isAttested(kept.agentId, capability)).toBe(true);
    await cutOff[Symbol.asyncDispose]();
  });

  test('forget what ended a week ago, but never that its commitment is spent', async () => {
    const agent = register();
    const request = requestOf(agent);
    const { body } = await mesh.post('attest', request);
    const { commitment } = requestOf(agent).proof;
    const asked = { agentId: agent.agentId, capability, commitment };
    expect((await mesh.post('challenge', asked)).status).toBe(201);
    clock.ms += 8 * 86_400_000;
    await mesh.feed.sweep();
    expect(await verifyOf(mesh, body)).toMatchObject({ valid: false, reason: 'unknown' });
    expect(await database.query('select id from mesh.challenges')).toEqual([]);
    const { body: replayed } = await mesh.post('attest', request);
    expect(replayed).toMatchObject({ verified: false, reason: 'commitment_used' });
  });

  test('know after a restart what they knew before', async () => {
    const [kept, ended] = [register(), register()];
    const request = requestOf(kept);
    const { body } = await mesh.post('attest', request);
    const revoked = await attestOf(mesh, ended);
    await mesh.post('revoke', { attestationId: revoked.attestationId });
    const again = await startAttestation(ground);
    expect(again.keys.published).toEqual(mesh.keys.published);
    expect(again.attestations.isAttested(kept.agentId, capability)).toBe(true);
    expect(again.attestations.isAttested(ended.agentId, capability)).toBe(false);
    expect((await verifyOf(again, body)).valid).toBe(true);
    expect((await verifyOf(again, revoked)).reason).toBe('revoked');
    const replayed = await again.post('attest', request);
    expect(replayed.body).toMatchObject({ verified: false, reason: 'commitment_used' });
    await again[Symbol.asyncDispose]();
  });

  test('let the next key sign when everybody can know it, and keep the one before published', async () => {
    const bus = await openBus({ log: silentLog });
    const a = await startAttestation(ground, { bus });
    const b = await startAttestation(ground, { bus });
    const agents = [register(), register(), register()] as const;
    const before = await attestOf(a, agents[0]);
    expect((await a.post('keys/rotate', {})).status).toBe(403);
    const { body } = await a.post('keys/rotate', {}, 'usr_admin');
    expect((await a.post('keys/rotate', {}, 'usr_admin')).body.kid).toBe(body.kid);
    await expect.poll(() => b.keys.published[0]?.kid).toBe(body.kid);
    const kidOf = (answered: Answered) => decodeProtectedHeader(answered.token).kid;
    expect(kidOf(await attestOf(b, agents[1]))).toBe(kidOf(before));
    clock.ms = Date.parse(body.signsFrom);
    const after = await attestOf(b, agents[2]);
    expect(kidOf(after)).toBe(body.kid);
    for (const { token } of [before, after]) {
      await jwtVerify(token, await keySetOf(a), { currentDate: new Date(clock.ms) });
      expect(await statusBitOf(a, token)).toBe(0);
    }
    clock.ms += 2 * 3_600_000;
    await a.feed.sweep();
    expect(a.keys.published.map(({ kid }) => kid)).toEqual([body.kid]);
    for (const replica of [a, b, bus]) await replica[Symbol.asyncDispose]();
  });

  test('withdraw a compromised key at once, with all that it signed', async () => {
    const bus = await openBus({ log: silentLog });
    const a = await startAttestation(ground, { bus });
    const b = await startAttestation(ground, { bus });
    const agent = register();
    const before = await attestOf(a, agent);
    await statusBitOf(b, before.token);
    const { body } = await a.post('keys/rotate', { compromised: true }, 'usr_admin');
    await expect.poll(() => b.keys.published.map(({ kid }) => kid)).toEqual([body.kid]);
    const again = await startAttestation(ground);
    expect(again.keys.published).toEqual(a.keys.published);
    for (const replica of [a, b, again]) {
      const keys = await keySetOf(replica);
      await expect(jwtVerify(before.token, keys)).rejects.toMatchObject({
        code: 'ERR_JWKS_NO_MATCHING_KEY',
      });
      const verified = await verifyOf(replica, before);
      expect(verified).toMatchObject({ valid: false, reason: 'key_withdrawn' });
      expect(replica.attestations.isAttested(agent.agentId, capability)).toBe(false);
      const after = await attestOf(replica, register());
      expect(decodeProtectedHeader(after.token).kid).toBe(body.kid);
      expect(await statusBitOf(replica, after.token)).toBe(0);
      expect((await verifyOf(replica, after)).valid).toBe(true);
    }
    const after = await attestOf(a, agent);
    expect((await verifyOf(a, after)).valid).toBe(true);
    expect(a.attestations.isAttested(agent.agentId, capability)).toBe(true);
    for (const replica of [a, b, again, bus]) await replica[Symbol.asyncDispose]();
  });

  test('sign nothing with a key that was withdrawn where they did not hear of it', async () => {
    const deaf = await startAttestation(ground);
    const { body } = await mesh.post('keys/rotate', { compromised: true }, 'usr_admin');
    expect(deaf.keys.isPublished(body.kid)).toBe(false);
    const { token } = await attestOf(deaf, register());
    expect(decodeProtectedHeader(token).kid).toBe(body.kid);
    await deaf[Symbol.asyncDispose]();
  });

  test('read which keys hold where no bus tells them', async () => {
    // As it is with PostgreSQL and without NATS.
    const query: typeof database.query = (text, ...rest) => database.query(text, ...rest);
    const shared = Object.assign(Object.create(database), { dialect: 'postgres', query });
    const deaf = await startAttestation({ ...ground, database: shared });
    const { body } = await mesh.post('keys/rotate', { compromised: true }, 'usr_admin');
    const kids = () => deaf.keys.published.map(({ kid }) => kid);
    await expect.poll(kids, { timeout: 20_000 }).toEqual([body.kid]);
    await deaf[Symbol.asyncDispose]();
  });

  test('do not start without the file that the key was sealed under', async () => {
    const foreign = await mkdtemp(join(tmpdir(), 'ennead-acap-'));
    await expect(startAttestation(ground, { dataFolder: foreign })).rejects.toMatchObject({
      code: 'conflict',
      reason: 'bad_key_file',
    });
    await rm(foreign, { recursive: true });
  });
});
