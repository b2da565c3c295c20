import { Fault } from '../errors.ts';

export interface NatsAddress {
  /** `host:port`, never with credentials: safe to log. */
  readonly servers: string[];
  readonly isEncrypted: boolean;
  readonly credentials: { user: string; pass: string } | { token: string } | undefined;
}

/** Splits the setting into servers and credentials, which the client takes apart from each other. */
export function parseNatsUrl(text: string): NatsAddress {
  const urls = text.split(',').map((part) => parseOne(part.trim()));
  return {
    servers: urls.map((url) => `${url.hostname}:${url.port || '4222'}`),
    isEncrypted: urls.some((url) => url.protocol === 'tls:'),
    credentials: urls.map(readCredentials).find((found) => found !== undefined),
  };
}

function parseOne(text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  const isNats = url?.protocol === 'nats:' || url?.protocol === 'tls:';
  if (url && isNats && url.hostname) return url;
  // The text itself may hold a password, so the sentence must not repeat it.
  throw new Fault('invalid', 'the NATS address must look like nats://host:4222 or tls://host:4222');
}

function readCredentials(url: URL): NatsAddress['credentials'] {
  const user = decodeURIComponent(url.username);
  const pass = decodeURIComponent(url.password);
  if (pass) return { user, pass };
  return user ? { token: user } : undefined;
}
