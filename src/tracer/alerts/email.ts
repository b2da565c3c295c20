import { createTransport } from 'nodemailer';
import { Fault } from '../../kit/errors.ts';
import type { Log } from '../../kit/log.ts';
import type { AlertConfig } from './alert-settings.ts';
import type { Message } from './message.ts';
import type { Sending } from './sending.ts';

export interface Mail {
  /** The same for every attempt, so that a mailbox can tell a repetition. */
  readonly id: string;
  readonly recipients: readonly string[];
  readonly message: Message;
  readonly signal: AbortSignal;
}

/** Sends mail by the server of the settings. */
export interface Mailer {
  /** Never rejects. */
  send(mail: Mail): Promise<Sending>;
}

const connectMaxMs = 10_000;
const silenceMaxMs = 15_000;
const sendMaxMs = 40_000;

/**
 * A server that is not set or cannot be reached is what each mail fails by; throws `invalid` for an
 * address that is none of a mail server.
 */
export function openMailer({ smtpUrl, smtpFrom }: AlertConfig, log: Log): Mailer {
  if (smtpUrl === undefined) return { send: () => Promise.resolve(noServer) };
  const transport = createTransport({
    url: checkAddress(smtpUrl.reveal()),
    connectionTimeout: connectMaxMs,
    greetingTimeout: connectMaxMs,
    dnsTimeout: connectMaxMs,
    socketTimeout: silenceMaxMs,
    disableFileAccess: true,
    disableUrlAccess: true,
  });
  return {
    send: async ({ id, recipients, message, signal }) => {
      try {
        const { rejected } = await transport.sendMail({
          messageId: `<${id}@ennead>`,
          from: smtpFrom,
          to: recipients.map((address) => ({ name: '', address })),
          subject: message.headline,
          text: textOf(message),
          // Keeps vacation answers away (RFC 3834 section 5).
          headers: { 'Auto-Submitted': 'auto-generated' },
          signal: AbortSignal.any([signal, AbortSignal.timeout(sendMaxMs)]),
        });
        if (rejected.length === 0) return { state: 'sent' };
        return { state: 'sent', note: `the mail server refused ${rejected.join(', ')}` };
      } catch (error) {
        log.warn({ err: error }, 'an alert could not be sent by email');
        return failureOf(error);
      }
    },
  };
}

const noServer: Sending = {
  state: 'failed',
  reason: 'no mail server is set: SMTP_URL is absent',
  isWorthRetrying: false,
};

function checkAddress(url: string): string {
  if (/^smtps?:$/.test(URL.canParse(url) ? new URL(url).protocol : '')) return url;
  const message = 'SMTP_URL must be an address such as smtp://user:password@host:587';
  throw new Fault('invalid', message, { reason: 'bad_setting' });
}

function textOf({ headline, facts }: Message): string {
  return [headline, '', ...facts.map(([title, value]) => `${title}: ${value}`), ''].join('\n');
}

/** 5xx is the server's last word (RFC 5321 section 4.2.1), but for a login that may be mended. */
function failureOf(error: unknown): Sending {
  const { responseCode, code, originalCode } = error as Readonly<Record<string, unknown>>;
  // The library's own code says no more than that the connection failed; the other one says why.
  const name = [originalCode, code].find(isErrorName) ?? 'no usable answer';
  const isAnswered = typeof responseCode === 'number';
  const reason = isAnswered ? `it answered ${responseCode}` : name;
  return {
    state: 'failed',
    reason: `the mail server failed: ${reason}`,
    isWorthRetrying: !isAnswered || responseCode < 500 || code === 'EAUTH',
  };
}

function isErrorName(code: unknown): code is string {
  return typeof code === 'string' && /^[A-Z_]{2,50}$/.test(code);
}
