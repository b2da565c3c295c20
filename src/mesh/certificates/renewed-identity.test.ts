import { expect, test } from 'vitest';
import { RenewedIdentity, type IssuedIdentity } from './renewed-identity.ts';

/** An identity that says in its certificate which one it is. */
function identity(number: number, lifeMs: number): IssuedIdentity {
  const certificate = String(number);
  return { certificate, privateKey: 'key', ca: 'ca', expiresAtMs: Date.now() + lifeMs };
}

test('a certificate is renewed at about half its life, again and again', async () => {
  let count = 0;
  const startMs = Date.now();
  const renewedAfterMs: number[] = [];
  using renewed = await RenewedIdentity.open({
    issue: async () => identity((count += 1), 1_000),
    onFailure: () => {},
  });
  renewed.onRenewal(() => renewedAfterMs.push(Date.now() - startMs));
  await expect.poll(() => renewedAfterMs.length).toBeGreaterThanOrEqual(2);
  expect(renewedAfterMs[0]).toBeGreaterThanOrEqual(440);
  expect(renewed.current.certificate).toBe(String(count));
});

test('a renewal that fails is told of and tried again, and the old one stays meanwhile', async () => {
  let count = 0;
  const failures: unknown[] = [];
  using renewed = await RenewedIdentity.open({
    issue: async () => {
      count += 1;
      if (count === 2) throw new Error('away');
      return identity(count, 600);
    },
    onFailure: (error) => {
      failures.push(error);
      expect(renewed.current.certificate).toBe('1');
    },
  });
  await expect.poll(() => renewed.current.certificate).not.toBe('1');
  expect(failures).toHaveLength(1);
});

test('a renewal that is asked for during another is done after it', async () => {
  const releases: (() => void)[] = [];
  let count = 0;
  using renewed = await RenewedIdentity.open({
    issue: async () => {
      count += 1;
      const number = count;
      if (number > 1) await new Promise<void>((resolve) => releases.push(resolve));
      return identity(number, 60_000);
    },
    onFailure: () => {},
  });
  const first = renewed.renew();
  const second = renewed.renew();
  await expect.poll(() => releases.length).toBe(1);
  releases[0]?.();
  await expect.poll(() => releases.length).toBe(2);
  releases[1]?.();
  await Promise.all([first, second]);
  expect(renewed.current.certificate).toBe('3');
});

test('servers and channels hear of the roots before the certificate', async () => {
  const heard: string[] = [];
  using renewed = await RenewedIdentity.open({
    issue: async () => identity(1, 60_000),
    onFailure: () => {},
  });
  renewed.addCaCertificateListener((update) =>
    heard.push(`ca ${update?.caCertificate.toString()}`),
  );
  renewed.addIdentityCertificateListener((update) =>
    heard.push(`leaf ${update?.certificate.toString()}`),
  );
  await new Promise((resolve) => setImmediate(resolve));
  await renewed.renew();
  expect(heard).toEqual(['ca ca', 'leaf 1', 'ca ca', 'leaf 1']);
});
