import { expect, test } from 'vitest';
import { Secret } from '../../kit/config.ts';
import { silentLog } from '../../kit/testing.ts';
import { openMailer } from './email.ts';
import { startMail } from './testing.ts';

async function send(url: string) {
  const mailer = openMailer(
    { smtpUrl: new Secret(url), smtpFrom: 'alerts@example.com' },
    silentLog,
  );
  const message = { isResolved: false, headline: 'An alert', facts: [] };
  const { signal } = new AbortController();
  return mailer.send({ id: 'a', recipients: ['a@example.com'], message, signal });
}

test('why a mail server cannot be spoken to is said: nobody there, or a bad certificate', async () => {
  // It offers STARTTLS with a certificate of its own.
  await using mail = await startMail({ disabledCommands: [] });
  for (const [url, why] of [
    ['smtp://127.0.0.1:1', 'ECONNREFUSED'],
    [mail.url, 'CERT'],
  ] as const) {
    const reason = expect.stringMatching(`^the mail server failed: .*${why}`) as string;
    expect(await send(url)).toMatchObject({ state: 'failed', reason, isWorthRetrying: true });
  }
});
