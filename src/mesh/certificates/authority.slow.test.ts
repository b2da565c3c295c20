import 'reflect-metadata';
import * as x509 from '@peculiar/x509';
import { generateKeyPairSync, webcrypto, X509Certificate } from 'node:crypto';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import type { CertificateAuthority } from './authority.ts';
import { keyAlgorithm } from './keys.ts';
import { createRequest } from './request.ts';
import { grantTo, issueFor, openAuthorityGround, type AuthorityGround } from './testing.ts';

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;
const dayMs = 24 * hourMs;

let ground: AuthorityGround;
let now: number;

beforeAll(async () => {
  ground = await openAuthorityGround();
});

beforeEach(async () => {
  now = Date.now();
  await ground.database.query('delete from mesh.certificate_roots');
});

afterAll(() => ground[Symbol.asyncDispose]());

const open = (): Promise<CertificateAuthority> => ground.open({ now: () => now });

/** The roots of a bundle. */
function rootsIn(bundle: string): X509Certificate[] {
  const texts = bundle.match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g) ?? [];
  return texts.map((text) => new X509Certificate(text));
}

const isSignedBy = (leaf: string, root: X509Certificate | undefined): boolean =>
  root !== undefined && new X509Certificate(leaf).verify(root.publicKey);

/** A request with the names and the key that the caller wants. */
async function requestWith(names: readonly x509.JsonGeneralName[], subject: string) {
  const keys = await webcrypto.subtle.generateKey(keyAlgorithm, true, ['sign', 'verify']);
  const request = await x509.Pkcs10CertificateRequestGenerator.create({
    name: subject,
    keys,
    signingAlgorithm: keyAlgorithm,
    extensions: [
      new x509.SubjectAlternativeNameExtension([...names]),
      new x509.BasicConstraintsExtension(true, 3, true),
    ],
  });
  return request.toString('pem');
}

test('text that is no request, a broken one and one with a foreign signature are refused', async () => {
  const authority = await open();
  const issue = (csr: string) => authority.issue({ agentId: 'a1', grant: grantTo('usr_1'), csr });
  const refusal = { code: 'invalid', reason: 'invalid_csr' };
  const { csr } = await createRequest('a1');
  const der = Buffer.from(csr.replaceAll(/-----[^-]+-----|\s/g, ''), 'base64');
  const pem = (bytes: Buffer) =>
    `-----BEGIN CERTIFICATE REQUEST-----\n${bytes.toString('base64')}\n-----END CERTIFICATE REQUEST-----`;
  const forged = Buffer.from(der);
  forged[forged.length - 1] = (forged.at(-1) ?? 0) ^ 1;
  await expect(issue('hello')).rejects.toMatchObject(refusal);
  await expect(issue(pem(Buffer.from('hello')))).rejects.toMatchObject(refusal);
  await expect(issue(pem(der.subarray(0, 60)))).rejects.toMatchObject(refusal);
  await expect(issue(pem(forged))).rejects.toMatchObject(refusal);
  await expect(issue(pem(der))).resolves.toMatchObject({ serial: expect.any(String) });
});

test('a weak key is refused', async () => {
  const authority = await open();
  const algorithm = { name: 'RSASSA-PKCS1-v1_5', hash: 'SHA-256' } as const;
  const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 1024 });
  const keys = {
    privateKey: await webcrypto.subtle.importKey(
      'pkcs8',
      privateKey.export({ format: 'der', type: 'pkcs8' }),
      algorithm,
      true,
      ['sign'],
    ),
    publicKey: await webcrypto.subtle.importKey(
      'spki',
      publicKey.export({ format: 'der', type: 'spki' }),
      algorithm,
      true,
      ['verify'],
    ),
  };
  const request = await x509.Pkcs10CertificateRequestGenerator.create({
    name: 'CN=a1',
    keys,
    signingAlgorithm: algorithm,
  });
  const csr = request.toString('pem');
  await expect(
    authority.issue({ agentId: 'a1', grant: grantTo('usr_1'), csr }),
  ).rejects.toMatchObject({
    reason: 'invalid_csr',
  });
});

test('an id that is no segment of a path gets no certificate', async () => {
  const authority = await open();
  const { csr } = await createRequest('a1');
  for (const agentId of ['..', '.', '', 'a/b', 'a b', 'x'.repeat(129)]) {
    await expect(authority.issue({ agentId, grant: grantTo('usr_1'), csr })).rejects.toMatchObject({
      code: 'invalid',
    });
  }
});

test('names of a request never override the agent, and only those of the loopback are kept', async () => {
  const authority = await open();
  const csr = await requestWith(
    [
      { type: 'url', value: 'spiffe://ennead/agent/admin' },
      { type: 'dns', value: 'localhost' },
      { type: 'dns', value: 'mesh.example.com' },
      { type: 'dns', value: 'localhost.example.com' },
      { type: 'ip', value: '127.0.0.5' },
      { type: 'ip', value: '10.0.0.1' },
      { type: 'email', value: 'admin@example.com' },
    ],
    'CN=admin, 0.9.2342.19200300.100.1.1=usr_admin',
  );
  const { certificate } = await authority.issue({ agentId: 'a1', grant: grantTo('usr_1'), csr });
  const leaf = new X509Certificate(certificate);
  expect(leaf.subjectAltName).toBe(
    'URI:spiffe://ennead/agent/a1, DNS:localhost, IP Address:127.0.0.5',
  );
  expect(leaf.subject).toMatch(/^CN=a1\nUID=usr_1\nOU=ses_test\nserialNumber=epoch-0$/);
  expect(leaf.ca).toBe(false);
});

test('a certificate lives for an hour, is for servers and clients, and verifies under the bundle', async () => {
  const authority = await open();
  const { certificate, ca, expiresAtMs } = await issueFor(authority, 'a1');
  const leaf = new X509Certificate(certificate);
  expect(expiresAtMs).toBe(now + hourMs);
  expect(Math.abs(Date.parse(leaf.validTo) - expiresAtMs)).toBeLessThan(1_000);
  expect(leaf.keyUsage).toEqual(['1.3.6.1.5.5.7.3.1', '1.3.6.1.5.5.7.3.2']);
  const [root] = rootsIn(ca);
  expect(isSignedBy(certificate, root)).toBe(true);
  expect(leaf.checkIssued(root!)).toBe(true);
  expect(Date.parse(root!.validTo) - now).toBeGreaterThan(364 * dayMs);
});

test('the mesh’s own certificate names the loopback and where else it is reached', async () => {
  const hostNames = ['mesh.example.com', '10.1.2.3', '[fd00::7]', '127.0.0.1', 'localhost'];
  const authority = await ground.open({ hostNames });
  const { subjectAltName } = new X509Certificate((await authority.issueOwn()).certificate);
  expect(subjectAltName?.split(', ')).toEqual([
    'URI:spiffe://ennead/mesh',
    'DNS:localhost',
    'IP Address:127.0.0.1',
    'IP Address:0:0:0:0:0:0:0:1',
    'DNS:mesh.example.com',
    'IP Address:10.1.2.3',
    'IP Address:FD00:0:0:0:0:0:0:7',
  ]);
});

test('replicas that start together have one root, and it outlives them', async () => {
  const [one, two] = await Promise.all([open(), open()]);
  expect(one.bundle).toBe(two.bundle);
  const later = await open();
  expect(later.bundle).toBe(one.bundle);
  expect(isSignedBy((await issueFor(two, 'a1')).certificate, rootsIn(one.bundle)[0])).toBe(true);
});

test('the private half of a root is stored sealed only', async () => {
  await open();
  const [row] = await ground.database.query<{ private_key: string }>(
    'select private_key from mesh.certificate_roots',
  );
  expect(row?.private_key).toMatch(/^key-1\./);
  const opened = Buffer.from(row?.private_key.split('.')[1] ?? '', 'base64url');
  await expect(
    webcrypto.subtle.importKey('pkcs8', opened, keyAlgorithm, false, ['sign']),
  ).rejects.toThrow();
});

test('without the key file the roots are not replaced: the start is refused', async () => {
  const other = await openAuthorityGround();
  try {
    await (await other.open())[Symbol.asyncDispose]();
    await rm(join(other.dataFolder, 'secrets'), { recursive: true });
    await expect(other.open()).rejects.toMatchObject({ reason: 'bad_key_file' });
  } finally {
    await other[Symbol.asyncDispose]();
  }
});

test('a root is followed by the next in time: trusted first, signing later, then alone', async () => {
  const authority = await open();
  const replica = await open();
  const [first] = rootsIn(authority.bundle);
  const before = await issueFor(authority, 'a1');

  now += 336 * dayMs;
  await authority.maintain();
  await replica.maintain();
  expect(rootsIn(authority.bundle)).toHaveLength(2);
  expect(replica.bundle).toBe(authority.bundle);
  const overlapping = await issueFor(replica, 'a1');
  expect(isSignedBy(overlapping.certificate, first)).toBe(true);
  expect(rootsIn(before.ca)).toHaveLength(1);

  now += hourMs + 2 * minuteMs;
  await authority.maintain();
  const after = await issueFor(authority, 'a1');
  expect(isSignedBy(after.certificate, first)).toBe(false);
  expect(isSignedBy(after.certificate, rootsIn(authority.bundle)[0])).toBe(true);
  expect(rootsIn(after.ca)).toHaveLength(2);
  // The last certificate of the first root has still to be accepted.
  expect(overlapping.expiresAtMs).toBeLessThan(now);

  now += hourMs + 2 * minuteMs;
  await authority.maintain();
  expect(rootsIn(authority.bundle)).toHaveLength(1);
  expect(isSignedBy(after.certificate, rootsIn(authority.bundle)[0])).toBe(true);
});

test('a mesh that slept past the end of its root signs with a new one at once', async () => {
  const old = await open();
  const { bundle } = old;
  now += 400 * dayMs;
  const authority = await open();
  expect(rootsIn(authority.bundle)).toHaveLength(1);
  expect(authority.bundle).not.toBe(bundle);
  const { certificate } = await issueFor(authority, 'a1');
  expect(isSignedBy(certificate, rootsIn(authority.bundle)[0])).toBe(true);
});

test('one urgent roll of two replicas makes one root, which signs at once on both', async () => {
  const [one, two] = await Promise.all([open(), open()]);
  const [first] = rootsIn(one.bundle);
  await Promise.all([one.roll({ isUrgent: true }), two.roll({ isUrgent: true })]);
  await Promise.all([one.maintain(), two.maintain()]);
  expect(one.bundle).toBe(two.bundle);
  expect(rootsIn(one.bundle)).toHaveLength(2);
  expect(isSignedBy((await issueFor(two, 'a1')).certificate, first)).toBe(false);
});
