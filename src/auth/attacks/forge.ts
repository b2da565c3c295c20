import { createPublicKey, generateKeyPairSync, sign, type KeyObject } from 'node:crypto';

type Json = Readonly<Record<string, unknown>>;

/** Signs the text `<header>.<payload>`. */
export type Signer = (input: string) => Buffer;

/** Makes tokens of every shape, also with the suite's own key, as nobody outside it could. */
export class Forge {
  readonly good: string;
  readonly refreshToken: string;
  readonly kid: string;
  readonly pem: string;
  readonly publicPem: string;
  readonly foreign: { readonly privateKey: KeyObject; readonly publicKey: KeyObject };
  /** The suite's own signature. */
  readonly signer: Signer;

  constructor(from: { access_token: string; refresh_token: string; kid: string; pem: string }) {
    this.good = from.access_token;
    this.refreshToken = from.refresh_token;
    this.kid = from.kid;
    this.pem = from.pem;
    this.publicPem = createPublicKey(from.pem).export({ type: 'spki', format: 'pem' }).toString();
    this.foreign = generateKeyPairSync('rsa', { modulusLength: 2048 });
    this.signer = (input) => sign('sha256', Buffer.from(input), this.pem);
  }

  /** Claims of the administrator's token under a fresh id; `undefined` leaves one out. */
  claims(changes: Json = {}): Json {
    return { ...decode(this.good, 1), jti: `tok_${Math.random()}`, ...changes };
  }

  header(changes: Json = {}): Json {
    return { alg: 'RS256', typ: 'JWT', kid: this.kid, ...changes };
  }

  /** A token with changed claims and header, signed by the suite unless another signer is given. */
  token(claims: Json = {}, header: Json = {}, signer: Signer = this.signer): string {
    return this.text(JSON.stringify(this.header(header)), {
      payload: JSON.stringify(this.claims(claims)),
      signer,
    });
  }

  /** A token of any two texts. */
  text(
    header: string,
    { payload, signer = this.signer }: { readonly payload: string; readonly signer?: Signer },
  ): string {
    const input = `${encode(header)}.${encode(payload)}`;
    return `${input}.${signer(input).toString('base64url')}`;
  }

  /** The signature of who does not have the suite's key. */
  foreignSigner: Signer = (input) => sign('sha256', Buffer.from(input), this.foreign.privateKey);

  get parts(): readonly [string, string, string] {
    const [header = '', payload = '', signature = ''] = this.good.split('.');
    return [header, payload, signature];
  }
}

/** Base64url of a text, or of a value as JSON. */
export function encode(value: unknown): string {
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  return Buffer.from(text).toString('base64url');
}

/** A part of a token as the object that it holds. */
export function decode(token: string, part: 0 | 1): Json {
  return JSON.parse(Buffer.from(token.split('.')[part] ?? '', 'base64url').toString());
}

/** Now in Unix seconds. */
export function nowSeconds(): number {
  return Math.floor(Date.now() / 1000);
}
