import { expect, test } from 'vitest';
import { readCertificate, splitPem } from './pem.ts';

/** `openssl x509 -noout -dates -fingerprint -sha256` says what is expected of it. */
const root = `-----BEGIN CERTIFICATE-----
MIIBfTCCASOgAwIBAgIQVkf1FX8pbGL6gQq+fMSfpjAKBggqhkjOPQQDAjAdMRsw
GQYDVQQDExJFbm5lYWQgbWVzaCByb290IDEwHhcNMjYxMTI5MDU1MDA3WhcNMjcx
MTI5MDU1MTA3WjAdMRswGQYDVQQDExJFbm5lYWQgbWVzaCByb290IDEwWTATBgcq
hkjOPQIBBggqhkjOPQMBBwNCAASWBHrXJqePk7OggjfhRRSXwoiEhTxDK2IZbGs6
4Lssf/jVNDPZa0YLTbqRUp5k342BLlPZQN+7vLI7Z+D+nwqio0UwQzASBgNVHRMB
Af8ECDAGAQH/AgEAMA4GA1UdDwEB/wQEAwIBBjAdBgNVHQ4EFgQUXMaN1H60IVfN
KtKWHuYhQ4OLLOgwCgYIKoZIzj0EAwIDSAAwRQIgPY7gBKwZt1xLEvIMFfUZ5BHN
lYltD1Uk3ffshtyuXrUCIQCJ6neTjzTyLgg6rx36TVLHmDgQdQhhc32oS0EFobe3
6A==
-----END CERTIFICATE-----`;

test('certificates of one text are told apart', () => {
  expect(splitPem(`${root}\n${root}\n`)).toEqual([root, root]);
  expect(splitPem('nothing')).toEqual([]);
});

test('a certificate tells from when to when it is valid, and its fingerprint', async () => {
  const { validFrom, validTo, fingerprint } = await readCertificate(root);
  expect(validFrom).toEqual(new Date('2026-11-29T05:50:07Z'));
  expect(validTo).toEqual(new Date('2027-11-29T05:51:07Z'));
  expect(fingerprint).toBe(
    '14:09:6B:BA:1B:17:5D:23:89:86:49:85:4E:A9:A9:A0:87:42:45:D8:E1:6F:AA:0C:42:42:49:8E:32:E6:B4:36',
  );
});
