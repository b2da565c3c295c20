import 'reflect-metadata';
import * as x509 from '@peculiar/x509';
import { X509Certificate, createPrivateKey, webcrypto } from 'node:crypto';
import { mkdtemp, readFile, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { issueFiles } from '../../commands/certificates/certificate-access.ts';
import type { Contract } from '../../kit/contract.ts';
import { plainEnvelope } from '../../kit/envelope.ts';
import { Lifetime } from '../../kit/lifecycle.ts';
import { createTestServer, listenAnywhere, silentLog } from '../../kit/testing.ts';
import { certificateHandlers } from '../routes/certificates.ts';
import { certificateRoutes } from '../schemas/certificates.ts';
import type { CertificateAuthority } from './authority.ts';
import { createRequest } from './request.ts';
import { peerIdentityOf } from './spiffe.ts';
import { openAuthorityGround } from './testing.ts';

const contract = {
  name: 'mesh',
  title: 'Certificates',
  version: '1.0.0',
  description: 'The certificates alone.',
  error: plainEnvelope.schema,
  routes: certificateRoutes,
} as const satisfies Contract;

const lifetime = new Lifetime(silentLog);
const owners = new Map<string, string>();
const told: unknown[] = [];
let authority: CertificateAuthority;
let url: string;
let sign: (claims: object) => Promise<string>;

beforeAll(async () => {
  const ground = lifetime.own('the ground', await openAuthorityGround());
  authority = await ground.open();
  const { http, issuer } = await createTestServer(contract);
  lifetime.defer('http', () => http.close(0));
  http.serve(
    contract,
    certificateHandlers({
      authority,
      ownerOf: (agentId) => owners.get(agentId),
      activity: { tell: (...event) => void told.push(event) },
    }),
  );
  url = await listenAnywhere(http);
  sign = (claims) => issuer.sign({ permissions: ['mesh:communicate'], ...claims });
});

beforeEach(() => {
  owners.clear();
  told.length = 0;
});

afterAll(() => lifetime[Symbol.asyncDispose]());

async function ask(body: object, claims: object = {}) {
  const response = await fetch(`${url}/api/v1/certificates`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${await sign({ sub: 'usr_1', ...claims })}`,
      'content-type': 'application/json',
    },
    body: JSON.stringify(body),
  });
  // Tests read whatever they expect; a wrong expectation fails them.
  const answer = (await response.json()) as Record<string, never>;
  return { status: response.status, answer };
}

test('nobody gets a certificate for an agent of somebody else', async () => {
  owners.set('a1', 'usr_2');
  const { csr } = await createRequest('a1');
  const { status, answer } = await ask({ agentId: 'a1', csr });
  expect(status).toBe(403);
  expect(answer['error']).toMatchObject({
    code: 'NOT_AGENT_OWNER',
    details: { agentId: 'a1' },
  });
  expect(told).toEqual([]);
});

test('a caller who may not communicate gets none', async () => {
  const { csr } = await createRequest('a1');
  expect((await ask({ agentId: 'a1', csr }, { permissions: [] })).status).toBe(403);
});

test('what is no request is refused with what is wrong', async () => {
  const { csr } = await createRequest('a1');
  const { status, answer } = await ask({ agentId: 'a1', csr: 'hello' });
  expect([status, answer['error']]).toMatchObject([400, { code: 'INVALID_CSR' }]);
  expect((await ask({ agentId: 'a b', csr })).status).toBe(400);
  expect((await ask({ agentId: '..', csr })).status).toBe(400);
  expect((await ask({ agentId: 'a1', csr: 'x'.repeat(8_193) })).status).toBe(400);
});

test('a request whose key is no key is refused as one', async () => {
  const algorithm = {
    name: 'RSASSA-PKCS1-v1_5',
    hash: 'SHA-256',
    modulusLength: 2048,
    publicExponent: new Uint8Array([1, 0, 1]),
  };
  const keys = await webcrypto.subtle.generateKey(algorithm, true, ['sign', 'verify']);
  const made = await x509.Pkcs10CertificateRequestGenerator.create({
    keys,
    signingAlgorithm: algorithm,
  });
  const der = Buffer.from(made.rawData);
  // The length of the modulus reaches beyond its end.
  const modulus = der.indexOf(Buffer.from('02820101', 'hex'));
  der[modulus + 2] = 0xff;
  const csr = x509.PemConverter.encode(der, 'CERTIFICATE REQUEST');
  const { status, answer } = await ask({ agentId: 'a1', csr });
  expect([status, answer['error']]).toMatchObject([400, { code: 'INVALID_CSR' }]);
});

test('the owner gets one before and after the registration, and the stream is told', async () => {
  const { csr } = await createRequest('a1');
  const before = await ask({ agentId: 'a1', csr });
  expect(before.status).toBe(201);
  expect(Object.keys(before.answer).toSorted()).toEqual(['ca', 'certificate', 'expiresAt']);
  owners.set('a1', 'usr_1');
  const after = await ask({ agentId: 'a1', csr });
  expect(after.status).toBe(201);
  const leaf = new X509Certificate(after.answer['certificate'] ?? '');
  expect(leaf.verify(new X509Certificate(after.answer['ca'] ?? '').publicKey)).toBe(true);
  expect(told[1]).toMatchObject([
    'certificate-issued',
    'a1',
    { serial: leaf.serialNumber.toLowerCase(), expiresAt: after.answer['expiresAt'] },
  ]);
});

test('anybody may read the roots', async () => {
  const response = await fetch(`${url}/api/v1/certificates/ca`);
  expect(await response.json()).toEqual({ ca: authority.bundle });
});

test('the next root is made by administrators only, at once when it is urgent', async () => {
  const roll = async (body: object, permissions: readonly string[]) => {
    const response = await fetch(`${url}/api/v1/certificates/ca/roll`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${await sign({ sub: 'usr_1', permissions })}`,
        'content-type': 'application/json',
      },
      body: JSON.stringify(body),
    });
    return { status: response.status, answer: (await response.json()) as Record<string, never> };
  };
  expect((await roll({}, ['mesh:communicate'])).status).toBe(403);
  expect((await roll({ urgent: 'now' }, ['mesh:admin'])).status).toBe(400);
  const { csr } = await createRequest('a1');
  const signer = async () => {
    const { answer } = await ask({ agentId: 'a1', csr });
    return new X509Certificate(answer['certificate'] ?? '').issuer;
  };
  const first = await signer();
  const planned = await roll({}, ['mesh:admin']);
  expect([planned.status, planned.answer['generation']]).toEqual([200, 2]);
  expect(Date.parse(planned.answer['signsFrom'] ?? '')).toBeGreaterThan(Date.now());
  expect(planned.answer['ca']).toBe(authority.bundle);
  expect(await signer()).toBe(first);
  expect((await roll({}, ['mesh:admin'])).answer['generation']).toBe(2);
  const urgent = await roll({ urgent: true }, ['mesh:admin']);
  expect(urgent.answer['generation']).toBe(3);
  expect(await signer()).toContain('root 3');
});

test('an id with a colon stands in a certificate as SPIFFE allows, and is read as it was', async () => {
  const agentId = 'urn:reviewer:7';
  const { csr } = await createRequest(agentId);
  const { status, answer } = await ask({ agentId, csr });
  expect(status).toBe(201);
  const leaf = new X509Certificate(answer['certificate'] ?? '').toLegacyObject();
  const [, path = ''] = /^URI:spiffe:\/\/ennead(\/[^,]*)/.exec(leaf.subjectaltname ?? '') ?? [];
  // SPIFFE ID, section 2.2.
  expect(path).toMatch(/^(\/[A-Za-z0-9._-]+)+$/);
  expect(peerIdentityOf(leaf)).toMatchObject({ agentId, ownerId: 'usr_1' });
  const renamed = { ...leaf, subjectaltname: `URI:spiffe://ennead/agent/${agentId}` };
  expect(() => peerIdentityOf(renamed)).toThrow('names no agent');
});

test('the command writes a key, its certificate and the roots, for their owner’s eyes only', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'ennead-certs-'));
  const { ENNEAD_MESH_URL: before } = process.env;
  process.env['ENNEAD_MESH_URL'] = url;
  try {
    const out = join(folder, 'new');
    const written: object[] = [];
    const token = await sign({ sub: 'usr_1' });
    await issueFiles({ agentId: 'a1', out, token }, (files) => void written.push(files));
    const read = (name: string) => readFile(join(out, name), 'utf8');
    const leaf = new X509Certificate(await read('cert.pem'));
    expect(leaf.subjectAltName).toContain('URI:spiffe://ennead/agent/a1, DNS:localhost');
    expect(leaf.checkPrivateKey(createPrivateKey(await read('key.pem')))).toBe(true);
    expect(await read('ca.pem')).toBe(authority.bundle);
    expect((await stat(join(out, 'key.pem'))).mode & 0o777).toBe(0o600);
    expect(written).toMatchObject([{ agentId: 'a1', certificate: join(out, 'cert.pem') }]);
  } finally {
    if (before === undefined) delete process.env['ENNEAD_MESH_URL'];
    else process.env['ENNEAD_MESH_URL'] = before;
    await rm(folder, { recursive: true });
  }
});
