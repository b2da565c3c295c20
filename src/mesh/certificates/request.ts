// tsyringe, which x509 is built on, wants the polyfill before it.
import 'reflect-metadata';
import * as x509 from '@peculiar/x509';
import { createPublicKey, webcrypto, type KeyObject } from 'node:crypto';
import { isIP } from 'node:net';
import { Fault } from '../../kit/errors.ts';
import { keyAlgorithm, privateKeyPem } from './keys.ts';

/** A signing request and the key that it was made with, both PEM. */
export interface KeyAndRequest {
  readonly csr: string;
  readonly privateKey: string;
}

/** What is taken from a request; its subject and all other names in it are ignored. */
export interface CertificateRequest {
  /** Its holder proved to have the private half. */
  readonly publicKey: x509.PublicKey;
  /** Names and addresses of the holder's own machine. */
  readonly loopbackNames: readonly x509.JsonGeneralName[];
}

/** The names under which an agent is reached from its own machine. */
export const loopbackNames: readonly x509.JsonGeneralName[] = [
  { type: 'dns', value: 'localhost' },
  { type: 'ip', value: '127.0.0.1' },
  { type: 'ip', value: '::1' },
];

const namesMax = 16;
const rsaBitsMin = 2048;
const rsaBitsMax = 4096;
const curves = new Set(['prime256v1', 'secp384r1']);

/** Makes a P-256 key and a request for it, with the loopback's names. */
export async function createRequest(agentId: string): Promise<KeyAndRequest> {
  const keys = await webcrypto.subtle.generateKey(keyAlgorithm, true, ['sign', 'verify']);
  const request = await x509.Pkcs10CertificateRequestGenerator.create({
    name: [{ CN: [agentId.slice(0, 64)] }],
    keys,
    signingAlgorithm: keyAlgorithm,
    extensions: [new x509.SubjectAlternativeNameExtension([...loopbackNames])],
  });
  return { csr: request.toString('pem'), privateKey: await privateKeyPem(keys.privateKey) };
}

/**
 * Reads a PEM request. Throws `invalid` (`invalid_csr`) when it cannot be read, is not signed by its
 * own key, or the key is too weak: RSA from 2048 to 4096 bits, P-256, P-384 and Ed25519 are taken.
 */
export async function readRequest(csr: string): Promise<CertificateRequest> {
  const request = parse(csr);
  requireStrong(toKeyObject(request));
  const isProved = await request.verify().catch(() => false);
  if (!isProved) throw badRequest('the request is not signed by its own key');
  return { publicKey: request.publicKey, loopbackNames: namesOf(request) };
}

function parse(csr: string): x509.Pkcs10CertificateRequest {
  const [, body] =
    /^\s*-----BEGIN (?:NEW )?CERTIFICATE REQUEST-----([A-Za-z0-9+/=\s]+)-----END/.exec(csr) ?? [];
  if (body === undefined) throw badRequest('`csr` is no PEM of a certificate request');
  try {
    return new x509.Pkcs10CertificateRequest(Buffer.from(body, 'base64'));
  } catch (cause) {
    throw badRequest('`csr` is no certificate request', cause);
  }
}

function toKeyObject(request: x509.Pkcs10CertificateRequest): KeyObject {
  try {
    // The key is parsed where it is asked for.
    const key = Buffer.from(request.publicKey.rawData);
    return createPublicKey({ key, format: 'der', type: 'spki' });
  } catch (cause) {
    throw badRequest('the key of the request cannot be read', cause);
  }
}

function requireStrong({ asymmetricKeyType, asymmetricKeyDetails = {} }: KeyObject): void {
  const { modulusLength = 0, namedCurve = '' } = asymmetricKeyDetails;
  const isTaken =
    asymmetricKeyType === 'ed25519' ||
    (asymmetricKeyType === 'ec' && curves.has(namedCurve)) ||
    (asymmetricKeyType === 'rsa' && modulusLength >= rsaBitsMin && modulusLength <= rsaBitsMax);
  if (!isTaken)
    throw badRequest('the key must be P-256, P-384, Ed25519 or RSA of 2048 to 4096 bits');
}

function namesOf(request: x509.Pkcs10CertificateRequest): readonly x509.JsonGeneralName[] {
  try {
    const asked = request.extensions.find(
      (extension) => extension instanceof x509.SubjectAlternativeNameExtension,
    );
    return (asked?.names.toJSON() ?? []).filter(isLoopback).slice(0, namesMax);
  } catch (cause) {
    throw badRequest('the names in the request cannot be read', cause);
  }
}

function isLoopback({ type, value }: x509.JsonGeneralName): boolean {
  if (type === 'dns') return /^(?:[a-z0-9-]{1,63}\.){0,4}localhost$/.test(value);
  if (type !== 'ip') return false;
  return value === '::1' || (isIP(value) === 4 && value.startsWith('127.'));
}

function badRequest(message: string, cause?: unknown): Fault {
  return new Fault('invalid', message, { reason: 'invalid_csr', cause });
}
