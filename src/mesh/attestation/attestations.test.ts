import { jwtVerify } from 'jose';
import { afterAll, describe, expect, test } from 'vitest';
import {
  commit,
  createKeyPair,
  isAnswered,
  prove,
  proveKey,
  randomChallenge,
  type Proof,
} from './schnorr.ts';
import {
  attestOf,
  capability,
  forgeAnswer,
  keySetOf,
  meshUrl,
  openAttestationGround,
  requestOf,
  startAttestation,
  statusBitOf,
  verifyOf,
  type Answered,
  type KeyedAgent,
} from './testing.ts';

const type = 'zero-knowledge';
const hourMs = 3_600_000;

const ground = await openAttestationGround();
const { agents, clock, register } = ground;
const mesh = await startAttestation(ground);

afterAll(async () => {
  await mesh[Symbol.asyncDispose]();
  await ground[Symbol.asyncDispose]();
});

describe('attest', () => {
  test('refuses what is no request with 400', async () => {
    const request = requestOf(register());
    for (const field of ['commitment', 'challenge', 'response']) {
      for (const text of ['', 'not hex', request.proof.commitment.slice(2), '0xzz', '0x1 ', 7]) {
        const proof = { ...request.proof, [field]: text };
        const { status, body } = await mesh.post('attest', { ...request, proof });
        expect({ text, status }).toEqual({ text, status: 400 });
        expect(body.error.code).toBe('VALIDATION_ERROR');
      }
    }
    for (const missing of ['agentId', 'capability', 'proof']) {
      const { status } = await mesh.post('attest', { ...request, [missing]: undefined });
      expect(status).toBe(400);
    }
  });

  test('is for those who may communicate', async () => {
    const { status, body } = await mesh.post('attest', requestOf(register()), 'usr_reader');
    expect([status, body.error.code]).toEqual([403, 'INSUFFICIENT_PERMISSIONS']);
  });

  const other = createKeyPair();
  const spoilt: readonly [string, string, (good: ReturnType<typeof requestOf>) => object][] = [
    ['an unknown agent', 'unknown_agent', (good) => ({ ...good, agentId: 'nobody' })],
    ['another capability', 'not_proved', (good) => ({ ...good, capability: 'chat' })],
    ['another type', 'unknown_type', (good) => withProof(good, { type: 'signature' })],
    ['a wrong length', 'bad_encoding', (good) => withProof(good, { response: '0x00' })],
    [
      'a very wrong length',
      'bad_encoding',
      (good) => withProof(good, { response: `0x${'0'.repeat(2_000)}` }),
    ],
    ['no digits', 'bad_encoding', (good) => withProof(good, { challenge: '0x' })],
    [
      'upper case',
      'bad_encoding',
      (good) => withProof(good, { commitment: `0x${'AB'.repeat(32)}` }),
    ],
    ['no element', 'not_proved', (good) => withProof(good, { commitment: `0x${'ff'.repeat(32)}` })],
    [
      'the identity',
      'not_proved',
      (good) => withProof(good, { commitment: `0x${'00'.repeat(32)}` }),
    ],
    [
      'a foreign challenge',
      'not_proved',
      (good) => withProof(good, { challenge: randomChallenge() }),
    ],
    ['a foreign nonce', 'not_proved', (good) => withProof(good, { nonce: 'n' })],
    [
      'an unknown challenge',
      'unknown_challenge',
      (good) => withProof(good, { challengeId: 'chl_1' }),
    ],
    [
      "another's key",
      'not_proved',
      ({ agentId }) => ({
        agentId,
        capability,
        proof: { type, ...prove(other.secretKey, { agentId, capability }) },
      }),
    ],
  ];

  test.each(spoilt)('answers 200 and verified false to %s', async (_title, reason, spoil) => {
    const request = requestOf(register());
    const { status, body } = await mesh.post('attest', spoil(request));
    expect({ status, verified: body.verified, reason: body.reason }).toEqual({
      status: 200,
      verified: false,
      reason,
    });
    expect(body.signature).toMatch(/^0x[0-9a-f]{128}$/);
    // The good one is still worth something: nothing was spent.
    expect((await mesh.post('attest', request)).body.verified).toBe(true);
  });

  test('answers verified false to an agent without a key, and to a proof of possession', async () => {
    const keyless = await mesh.post('attest', requestOf(register({ publicKey: undefined })));
    expect(keyless.body).toMatchObject({ verified: false, reason: 'no_key' });
    const agent = register();
    const proof = proveKey(agent.keys.secretKey, agent.agentId);
    const { body } = await mesh.post('attest', withProof(requestOf(agent), { ...proof }));
    expect(body).toMatchObject({ verified: false, reason: 'not_proved' });
  });

  test("answers verified false to another agent's proof, also when both have one key", async () => {
    const [first, second] = [register(), register()];
    const twin = register({ publicKey: first.keys.publicKey });
    for (const { agentId } of [second, twin]) {
      const { body } = await mesh.post('attest', { ...requestOf(first), agentId });
      expect(body).toMatchObject({ verified: false, reason: 'not_proved' });
    }
  });

  test.each([
    ['ended', { expiresAt: new Date(clock.ms - 1_000).toISOString() }],
    ['ended in seconds', { expiresAt: String(Math.floor(clock.ms / 1_000) - 1) }],
    ['not begun', { issuedAt: new Date(clock.ms + 120_000).toISOString() }],
    ['of no time that can be read', { expiresAt: 'tomorrow' }],
  ])('answers verified false to a proof that has %s', async (_title, bound) => {
    const { body } = await mesh.post('attest', requestOf(register(), bound));
    expect(body).toMatchObject({ verified: false, reason: 'not_in_time' });
  });

  test('gives an unverified answer a token that nobody takes for an attestation', async () => {
    const { body } = await mesh.post('attest', withProof(requestOf(register()), { nonce: 'n' }));
    await expect(
      jwtVerify(body.token, await keySetOf(mesh), { clockTolerance: '10 years' }),
    ).rejects.toMatchObject({ code: 'ERR_JWT_EXPIRED' });
    expect(await verifyOf(mesh, body)).toMatchObject({ valid: false, reason: 'unknown' });
    expect((await mesh.post('revoke', { attestationId: body.attestationId })).status).toBe(404);
  });

  test('attests a capability that was proved, and tells of it', async () => {
    const agent = register();
    const { agentId } = agent;
    expect(mesh.attestations.isAttested(agentId, capability)).toBe(false);
    const bound = {
      nonce: 'n1',
      issuedAt: new Date(clock.ms).toISOString(),
      expiresAt: new Date(clock.ms + 60_000).toISOString(),
    };
    const { status, body } = await mesh.post('attest', requestOf(agent, bound));
    expect(status).toBe(200);
    expect(body).toEqual({
      attestationId: expect.stringMatching(/^att_[0-9a-f]{32}$/),
      agentId,
      capability,
      verified: true,
      validUntil: new Date(clock.ms + hourMs).toISOString(),
      signature: expect.stringMatching(/^0x[0-9a-f]{128}$/),
      token: expect.any(String),
    });
    expect(mesh.attestations.isAttested(agentId, capability)).toBe(true);
    expect(mesh.attestations.isAttested(agentId, 'chat')).toBe(false);
    expect(mesh.told.at(-1)).toEqual({
      type: 'capability-attested',
      agentId,
      data: {
        attestationId: body.attestationId,
        capability,
        validUntil: body.validUntil,
      },
    });
  });

  test('gives a token that verifies offline and carries the same signature', async () => {
    const body = await attestOf(mesh, register());
    const { payload, protectedHeader } = await jwtVerify<Answered>(
      body.token,
      await keySetOf(mesh),
      {
        issuer: meshUrl,
        subject: body.agentId,
        typ: 'acap+jwt',
      },
    );
    expect(protectedHeader.alg).toBe('EdDSA');
    expect(payload).toMatchObject({ cap: capability, verified: true, jti: body.attestationId });
    expect(payload.exp).toBe(Math.floor(Date.parse(body.validUntil) / 1_000));
    const [, , signature = ''] = body.token.split('.');
    expect(body.signature).toBe(`0x${Buffer.from(signature, 'base64url').toString('hex')}`);
    expect(await statusBitOf(mesh, body.token)).toBe(0);
  });

  test('accepts a commitment once, however often it comes at the same time', async () => {
    const request = requestOf(register());
    const answers = await Promise.all(
      Array.from({ length: 8 }, () => mesh.post('attest', request)),
    );
    expect(answers.filter(({ body }) => body.verified)).toHaveLength(1);
    const { body } = await mesh.post('attest', request);
    expect(body).toMatchObject({ verified: false, reason: 'commitment_used' });
  });
});

describe('the interactive form', () => {
  async function begin(agent: KeyedAgent, changes: object = {}) {
    const commitment = commit(agent.keys.secretKey);
    const { status, body } = await mesh.post('challenge', {
      agentId: agent.agentId,
      capability,
      commitment: commitment.commitment,
      ...changes,
    });
    expect(status).toBe(201);
    return { challengeId: body.challengeId, proof: commitment.respond(body.challenge), body };
  }

  function answerTo(agentId: string, challengeId: string, proof: Proof) {
    return mesh.post('attest', { agentId, capability, proof: { type, challengeId, ...proof } });
  }

  test('asks only agents with a key, and only for elements', async () => {
    const { commitment } = commit(createKeyPair().secretKey);
    const ask = async (changes: object) => {
      const agentId = register().agentId;
      const request = { agentId, capability, commitment, ...changes };
      const { status, body } = await mesh.post('challenge', request);
      return [status, body.error.code];
    };
    expect(await ask({ agentId: 'nobody' })).toEqual([404, 'AGENT_NOT_FOUND']);
    const { agentId } = register({ publicKey: undefined });
    expect(await ask({ agentId })).toEqual([409, 'AGENT_KEY_MISSING']);
    expect(await ask({ commitment: '0x00' })).toEqual([400, 'INVALID_COMMITMENT']);
    expect(await ask({ commitment: 'no hex' })).toEqual([400, 'VALIDATION_ERROR']);
  });

  test('attests who answers the challenge, once', async () => {
    const agent = register();
    const { challengeId, proof, body } = await begin(agent);
    expect(body.expiresAt).toBe(new Date(clock.ms + 30_000).toISOString());
    expect((await answerTo(agent.agentId, challengeId, proof)).body.verified).toBe(true);
    const again = await answerTo(agent.agentId, challengeId, proof);
    expect(again.body).toMatchObject({ verified: false, reason: 'unknown_challenge' });
  });

  test('gives one attempt', async () => {
    const agent = register();
    const { challengeId, proof } = await begin(agent);
    const wrong = { ...proof, response: randomChallenge() };
    const first = await answerTo(agent.agentId, challengeId, wrong);
    expect(first.body).toMatchObject({ verified: false, reason: 'not_proved' });
    const second = await answerTo(agent.agentId, challengeId, proof);
    expect(second.body).toMatchObject({ verified: false, reason: 'unknown_challenge' });
  });

  test('takes neither a commitment nor a challenge that was chosen afterwards', async () => {
    const agent = register();
    const { challengeId, body } = await begin(agent);
    const late = forgeAnswer(agent.keys.publicKey, body.challenge);
    expect(isAnswered(agent.keys.publicKey, late)).toBe(true);
    const first = await answerTo(agent.agentId, challengeId, late);
    expect(first.body).toMatchObject({ verified: false, reason: 'unknown_challenge' });
    const early = forgeAnswer(agent.keys.publicKey, randomChallenge());
    const asked = await begin(agent, { commitment: early.commitment });
    const second = await answerTo(agent.agentId, asked.challengeId, early);
    expect(second.body).toMatchObject({ verified: false, reason: 'unknown_challenge' });
  });

  test('gives it for thirty seconds', async () => {
    const agent = register();
    const { challengeId, proof } = await begin(agent);
    clock.ms += 30_000;
    const { body } = await answerTo(agent.agentId, challengeId, proof);
    expect(body).toMatchObject({ verified: false, reason: 'unknown_challenge' });
  });

  test('gives it to one agent, capability, key and commitment', async () => {
    const agent = register();
    const twin = register({ publicKey: agent.keys.publicKey });
    const mine = await begin(agent);
    expect((await answerTo(twin.agentId, mine.challengeId, mine.proof)).body.verified).toBe(false);
    const chat = await begin(agent, { capability: 'chat' });
    expect((await answerTo(agent.agentId, chat.challengeId, chat.proof)).body.verified).toBe(false);
    const [one, two] = [await begin(agent), await begin(agent)];
    const crossed = await answerTo(agent.agentId, one.challengeId, two.proof);
    expect(crossed.body.verified).toBe(false);
    const kept = await begin(agent);
    agents.set(agent.agentId, { ...agent, publicKey: createKeyPair().publicKey });
    const changed = await answerTo(agent.agentId, kept.challengeId, kept.proof);
    expect(changed.body).toMatchObject({ verified: false, reason: 'unknown_challenge' });
  });
});

describe('verify', () => {
  test('knows its own attestations and nothing else', async () => {
    const body = await attestOf(mesh, register());
    expect(await verifyOf(mesh, body)).toEqual({
      valid: true,
      agentId: body.agentId,
      capability,
      verifiedAt: new Date(clock.ms).toISOString(),
      expiresAt: body.validUntil,
    });
    const { agentId } = register();
    expect(await verifyOf(mesh, { ...body, agentId })).toMatchObject({
      valid: false,
      reason: 'unknown',
    });
    const unknown = { ...body, attestationId: 'att_0' };
    expect(await verifyOf(mesh, unknown)).toMatchObject({ valid: false, reason: 'unknown' });
    const request = { ...body, capability: 'chat' };
    const { body: chat } = await mesh.post('verify', request);
    expect(chat).toMatchObject({ valid: false, reason: 'unknown' });
  });

  test('says when an attestation has expired, and discovery forgets it too', async () => {
    const body = await attestOf(mesh, register());
    clock.ms += hourMs;
    expect(await verifyOf(mesh, body)).toMatchObject({ valid: false, reason: 'expired' });
    expect(mesh.attestations.isAttested(body.agentId, capability)).toBe(false);
  });

  test('says when the agent has another key now, or none', async () => {
    const agent = register();
    const body = await attestOf(mesh, agent);
    agents.set(agent.agentId, { ...agent, publicKey: createKeyPair().publicKey });
    expect(await verifyOf(mesh, body)).toMatchObject({ valid: false, reason: 'key_changed' });
    expect(mesh.attestations.isAttested(agent.agentId, capability)).toBe(false);
    agents.delete(agent.agentId);
    expect(await verifyOf(mesh, body)).toMatchObject({ valid: false, reason: 'key_changed' });
  });
});

function withProof(request: ReturnType<typeof requestOf>, changes: object) {
  return { ...request, proof: { ...request.proof, ...changes } };
}
