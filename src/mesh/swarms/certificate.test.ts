import { createHash, createPrivateKey, verify } from 'node:crypto';
import { expect, test } from 'vitest';
import {
  ballotBytes,
  configHashOf,
  isBallotSigned,
  proposalIdOf,
  readVoteKey,
  signBallot,
} from './ballot.ts';
import { verifyCertificate, type Certificate } from './certificate.ts';
import { makeVoteKeys } from './testing.ts';

const names = ['a1', 'a2', 'a3', 'a4'];
const keys = new Map(names.map((agentId) => [agentId, makeVoteKeys()]));
const members = names.map((agentId) => ({ agentId, voteKey: keys.get(agentId)!.voteKey }));
const proposal = { name: 'release', task: { type: 'deploy', input: { build: 7 } } };
const scope = {
  meshId: 'https://mesh.test',
  swarmId: 'swm_1',
  configHash: configHashOf(members, 3),
  proposalId: proposalIdOf(proposal),
};

function signedBy(
  agentId: string,
  over: Partial<typeof scope> = {},
  vote: 'approve' | 'reject' = 'approve',
) {
  const ballot = { ...scope, ...over, agentId, vote };
  return { agentId, signature: signBallot(ballot, keys.get(agentId)!.privateKey) };
}

const certificate: Certificate = {
  ...scope,
  quorum: 3,
  decision: 'approve',
  votes: ['a1', 'a2', 'a3'].map((agentId) => signedBy(agentId)),
};

const known = { members, proposal, meshId: scope.meshId, swarmId: scope.swarmId };

function flawOf(over: object, about: object = {}): string | undefined {
  const check = verifyCertificate({ ...certificate, ...over }, { ...known, ...about });
  return check.isValid ? undefined : check.flaw;
}

test('a certificate verifies with nothing but the members’ keys', () => {
  expect(verifyCertificate(certificate, { members })).toEqual({
    isValid: true,
    signers: ['a1', 'a2', 'a3'],
  });
  const copy: Certificate = JSON.parse(JSON.stringify(certificate));
  expect(verifyCertificate(copy, known).isValid).toBe(true);
});

test('a certificate that was tampered with does not', () => {
  const { votes } = certificate;
  expect(flawOf({ decision: 'reject' })).toContain('does not hold');
  expect(flawOf({ decision: 'abstain' })).toContain('decides nothing');
  expect(flawOf({ votes: votes.slice(1) })).toContain('fewer votes');
  expect(flawOf({ votes: [...votes.slice(1), votes[1]] })).toContain('twice');
  expect(flawOf({ quorum: 2, votes: votes.slice(1) })).toContain('too small');
  expect(flawOf({ quorum: 4 })).toContain('other members');
  expect(flawOf({ swarmId: 'swm_2' })).toContain('another swarm');
  expect(flawOf({ swarmId: 'swm_2' }, { swarmId: 'swm_2' })).toContain('does not hold');
  expect(flawOf({ meshId: 'm' })).toContain('another mesh');
  expect(flawOf({ proposalId: 'p' })).toContain('another proposal');
  const stranger = { agentId: 'a9', signature: votes[0]?.signature };
  expect(flawOf({ votes: [...votes, stranger] })).toContain('no member');
  const copied = { agentId: 'a4', signature: votes[0]?.signature };
  expect(flawOf({ votes: [...votes.slice(1), copied] })).toContain('does not hold');
});

test('a certificate of another swarm’s members or keys does not verify', () => {
  const own = makeVoteKeys();
  const forged = members.map((member, at) => (at === 0 ? { ...member, ...own } : member));
  expect(flawOf({}, { members: forged })).toContain('other members');
  expect(flawOf({}, { members: members.slice(1) })).toContain('other members');
  // One liar alone, who makes up a swarm of its own.
  const alone = [{ agentId: 'a1', voteKey: own.voteKey }];
  const configHash = configHashOf(alone, 1);
  const ballot = { ...scope, configHash, agentId: 'a1', vote: 'approve' } as const;
  const vote = { agentId: 'a1', signature: signBallot(ballot, own.privateKey) };
  expect(flawOf({ configHash, quorum: 1, votes: [vote] })).toContain('too small');
});

test('votes for another proposal, swarm or set of members do not count in it', () => {
  for (const over of [
    { proposalId: 'p' },
    { swarmId: 's' },
    { configHash: 'c' },
    { meshId: 'm' },
  ]) {
    const votes = [...certificate.votes.slice(1), signedBy('a1', over)];
    expect(flawOf({ votes })).toContain('does not hold');
  }
});

test('nothing that is no certificate makes the check throw', () => {
  for (const given of [null, 7, 'x', {}, { votes: 1 }, { ...certificate, votes: [null] }]) {
    expect(verifyCertificate(given as never, known).isValid).toBe(false);
  }
});

test('a vote is signed over its length-prefixed fields, as an independent writer makes them', () => {
  const lp = (text: string) => {
    const bytes = Buffer.from(text);
    return Buffer.concat([Buffer.from(new Uint32Array([bytes.length]).buffer).swap32(), bytes]);
  };
  const sha = (data: string | Buffer) => createHash('sha256').update(data).digest('hex');
  const fields = [
    'ENNEAD-SWARM-v1/ed25519/vote',
    scope.meshId,
    'swm_1',
    sha(
      Buffer.concat(
        ['ENNEAD-SWARM-v1/config', ...members.flatMap((m) => [m.agentId, m.voteKey]), '3'].map(lp),
      ),
    ),
    sha(Buffer.concat(['ENNEAD-SWARM-v1/proposal', 'release', 'deploy', '{"build":7}'].map(lp))),
    sha('approve'),
    'a1',
  ];
  const bytes = Buffer.concat(fields.map(lp));
  expect(ballotBytes({ ...scope, agentId: 'a1', vote: 'approve' })).toEqual(bytes);
  const { signature } = signedBy('a1');
  const key = readVoteKey(keys.get('a1')!.voteKey)!;
  expect(verify(null, bytes, key, Buffer.from(signature, 'base64url'))).toBe(true);
});

test('the signature of a fixed vote under a fixed key is fixed', () => {
  // The key of RFC 8032, section 7.1, test 1.
  const privateKey = createPrivateKey({
    key: {
      kty: 'OKP',
      crv: 'Ed25519',
      d: 'nWGxne_9WmC6hEr0kuwsxERJxWl7MmkZcDusAxyuf2A',
      x: '11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo',
    },
    format: 'jwk',
  });
  const ballot = {
    meshId: 'mesh',
    swarmId: 'swm_1',
    configHash: configHashOf([{ agentId: 'b' }, { agentId: 'a', voteKey: 'k' }], 2),
    proposalId: proposalIdOf({ name: 'n', task: { type: 't', input: { b: [1, 'é'], a: null } } }),
    agentId: 'a',
    vote: 'approve',
  } as const;
  expect(ballot).toMatchInlineSnapshot(`
    {
      "agentId": "a",
      "configHash": "9212aed4b70e99630f037db5b310d4ffe38f819513f680c70efc236356f6bd28",
      "meshId": "mesh",
      "proposalId": "b073f04580e2033426140ad974bb51afc7ab470e71ce44bed6ad7ef25f5c1880",
      "swarmId": "swm_1",
      "vote": "approve",
    }
  `);
  const signature = signBallot(ballot, privateKey);
  expect(signature).toMatchInlineSnapshot(
    `"k871akeAObrVfP05b1Esea4gEA0-j1HwbFJlpVdPj-bsAuLhrHk-__RRyJC4BMjqxGpsiEz0S3hArvstnbqUAw"`,
  );
  const voteKey = '11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo';
  expect(isBallotSigned(ballot, voteKey, signature)).toBe(true);
  expect(isBallotSigned(ballot, voteKey, `${signature}=`)).toBe(false);
  expect(isBallotSigned(ballot, voteKey, '')).toBe(false);
  expect(isBallotSigned(ballot, 'short', signature)).toBe(false);
});
