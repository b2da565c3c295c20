import { createHash, createHmac, timingSafeEqual } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import { Fault } from '../../kit/errors.ts';
import { formMediaType } from '../../kit/http/form-body.ts';
import { parseJsonBody } from '../../kit/http/json-body.ts';
import { isSignature, signatureHeader } from '../callbacks/signature.ts';

/** A delivery to a webhook as it came. */
export interface Delivery {
  readonly method: string;
  readonly headers: IncomingHttpHeaders;
  readonly query: Readonly<Record<string, unknown>>;
  readonly body: Buffer;
}

/** Where a sender shows the secret itself: by hand, or as GitLab does. */
const secretHeaders = ['x-webhook-secret', 'x-gitlab-token'];
const hubHeader = 'x-hub-signature-256';

/** What tells a sender's deliveries apart, the first that is there. */
const keyHeaders = [
  'idempotency-key',
  'x-delivery-id',
  'x-ennead-delivery',
  'x-github-delivery',
  'webhook-id',
];

/** Never handed on: they are meant for this service alone. */
const hiddenHeaders = new Set([
  'authorization',
  'proxy-authorization',
  'cookie',
  'x-api-key',
  ...secretHeaders,
  signatureHeader,
  hubHeader,
]);

/**
 * Throws `unauthenticated` (`bad_webhook_secret`) unless the delivery shows the secret: itself in
 * `X-Webhook-Secret` or `X-Gitlab-Token`, or as HMAC-SHA256 in `X-Ennead-Signature` or
 * `X-Hub-Signature-256`. All are compared in constant time.
 */
export function verifyDelivery(
  { headers, body }: Delivery,
  { secret, nowMs }: { readonly secret: string; readonly nowMs: number },
): void {
  for (const name of secretHeaders) {
    const given = textOf(headers[name]);
    if (given !== undefined && isSame(given, secret)) return;
  }
  const signature = textOf(headers[signatureHeader]);
  if (signature !== undefined && isSignature(signature, body, { secret, nowMs })) return;
  const hub = textOf(headers[hubHeader]);
  const expected = `sha256=${createHmac('sha256', secret).update(body).digest('hex')}`;
  if (hub !== undefined && isSame(hub, expected)) return;
  throw new Fault('unauthenticated', 'the delivery does not show the secret of this hook', {
    reason: 'bad_webhook_secret',
  });
}

/**
 * What the sender calls this delivery, else what it was signed with at its time; undefined when it
 * says neither.
 */
export function deliveryKeyOf({ headers, body }: Delivery): string | undefined {
  for (const name of keyHeaders) {
    const value = textOf(headers[name]);
    if (value === undefined) continue;
    if (!/^[\x21-\x7e]{1,255}$/.test(value)) {
      throw new Fault('invalid', `${name} has 1 to 255 visible characters`, {
        reason: 'validation_error',
        detail: { param: name },
      });
    }
    return value;
  }
  const signature = textOf(headers[signatureHeader]);
  if (signature === undefined || body.length === 0) return undefined;
  return `signed:${createHash('sha256').update(signature.trim()).update(body).digest('hex')}`;
}

/** What placeholders and filters see of a delivery. */
export function sourceOf({ headers, query, body }: Delivery) {
  return {
    body: bodyOf(body, headers),
    query,
    headers: Object.fromEntries(
      Object.entries(headers).filter(([name]) => !hiddenHeaders.has(name)),
    ),
  };
}

function bodyOf(bytes: Buffer, headers: IncomingHttpHeaders): unknown {
  if (bytes.length === 0) return null;
  if (headers['content-encoding'] !== undefined && headers['content-encoding'] !== 'identity') {
    const message = 'the body must not be compressed';
    throw new Fault('invalid', message, { status: 415, reason: 'unsupported_content_encoding' });
  }
  const text = decode(bytes);
  const mediaType = (headers['content-type'] ?? '').split(';')[0]?.trim().toLowerCase() ?? '';
  if (mediaType === 'application/json' || mediaType.endsWith('+json')) return parseJsonBody(text);
  if (mediaType === formMediaType) return formOf(text);
  return text.replaceAll('\0', '');
}

/** A name that comes twice has a list, as in the query. */
function formOf(text: string): Record<string, string | string[]> {
  const fields = new URLSearchParams(text);
  const names = [...new Set(fields.keys())];
  const entries = names.map((name) => {
    const values = fields.getAll(name).map((value) => value.replaceAll('\0', ''));
    const [only = ''] = values;
    return [name.replaceAll('\0', ''), values.length === 1 ? only : values] as const;
  });
  return Object.fromEntries(entries);
}

function decode(bytes: Buffer): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch (cause) {
    throw new Fault('invalid', 'the body is no UTF-8', { reason: 'invalid_encoding', cause });
  }
}

function textOf(header: string | readonly string[] | undefined): string | undefined {
  return typeof header === 'string' ? header : undefined;
}

/** Of digests, so that not even the length shows. */
function isSame(a: string, b: string): boolean {
  return timingSafeEqual(digestOf(a), digestOf(b));
}

function digestOf(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
