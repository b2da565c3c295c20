import { afterAll, expect, test } from 'vitest';
import { ProofChecker } from './proof-checker.ts';
import { createKeyPair, prove, proveKey } from './schnorr.ts';

const checker = new ProofChecker();
const { secretKey, publicKey } = createKeyPair();
const statement = { agentId: 'agent-1', capability: 'chat' };

afterAll(() => checker[Symbol.asyncDispose]());

test('checks what it is given, each for itself', async () => {
  const proof = prove(secretKey, statement);
  const other = { ...statement, agentId: 'agent-2' };
  const verdicts = await Promise.all([
    checker.check({ kind: 'statement', publicKey, statement, proof }),
    checker.check({ kind: 'statement', publicKey, statement: other, proof }),
    checker.checkKeyProof('agent-1', publicKey, proveKey(secretKey, 'agent-1')),
    checker.checkKeyProof('agent-2', publicKey, proveKey(secretKey, 'agent-1')),
  ]);
  expect(verdicts).toEqual([true, false, true, false]);
});

test('asks those to come again who are too many', async () => {
  const proof = prove(secretKey, statement);
  const refused = { ...proof, challenge: proof.response };
  const task = { kind: 'statement', publicKey, statement, proof: refused } as const;
  const answers = await Promise.allSettled(
    Array.from({ length: 1_600 }, () => checker.check(task)),
  );
  const refusals = answers.filter(({ status }) => status === 'rejected');
  expect(refusals).toHaveLength(100);
  expect(refusals[0]).toMatchObject({ reason: { code: 'exhausted', retryAfter: 2 } });
});

test('refuses what waits, and what comes, when it is closed', async () => {
  const closed = new ProofChecker();
  const proof = prove(secretKey, statement);
  const task = { kind: 'statement', publicKey, statement, proof } as const;
  const waiting = closed.check(task);
  const [answer] = await Promise.allSettled([waiting, closed[Symbol.asyncDispose]()]);
  expect(answer).toMatchObject({ status: 'rejected', reason: { code: 'unavailable' } });
  await expect(closed.check(task)).rejects.toMatchObject({ code: 'unavailable' });
});
