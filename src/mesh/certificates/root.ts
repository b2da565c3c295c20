import 'reflect-metadata';
import * as x509 from '@peculiar/x509';
import { randomBytes, webcrypto } from 'node:crypto';
import { keyAlgorithm } from './keys.ts';
import { epochName, serviceTitle, type CertificateGrant } from './spiffe.ts';

/** The life of a certificate, milliseconds since the epoch. */
export interface Validity {
  readonly fromMs: number;
  readonly untilMs: number;
}

/** A new root: its certificate in PEM and its private key as PKCS #8. */
export interface NewRoot {
  readonly certificate: string;
  readonly privateKey: Buffer;
}

/** A root that can sign. */
export interface SigningRoot {
  readonly certificate: x509.X509Certificate;
  readonly key: webcrypto.CryptoKey;
}

/** What a leaf is to say. */
export interface LeafContent {
  readonly spiffeId: string;
  readonly commonName: string;
  /** Stands in the subject, so that whoever verifies the leaf knows whose it is and what ends it. */
  readonly grant: CertificateGrant | undefined;
  readonly names: readonly x509.JsonGeneralName[];
  readonly publicKey: x509.PublicKey | webcrypto.CryptoKey;
  readonly validity: Validity;
}

export interface SignedLeaf {
  /** PEM. */
  readonly certificate: string;
  readonly serial: string;
}

const userIdType = '0.9.2342.19200300.100.1.1';
const serialNumberType = '2.5.4.5';
const titleType = '2.5.4.12';
const commonNameMax = 64;
const serverAndClient = ['1.3.6.1.5.5.7.3.1', '1.3.6.1.5.5.7.3.2'];

/** Makes a P-256 root that signs leaves only. */
export async function createRoot(generation: number, validity: Validity): Promise<NewRoot> {
  const keys = await webcrypto.subtle.generateKey(keyAlgorithm, true, ['sign', 'verify']);
  const { keyCertSign, cRLSign } = x509.KeyUsageFlags;
  const certificate = await x509.X509CertificateGenerator.createSelfSigned({
    serialNumber: newSerial(),
    // Each generation has a name of its own, so that verifiers never try the wrong key.
    name: [{ CN: [`Ennead mesh root ${generation}`] }],
    ...datesOf(validity),
    keys,
    signingAlgorithm: keyAlgorithm,
    extensions: [
      new x509.BasicConstraintsExtension(true, 0, true),
      new x509.KeyUsagesExtension(keyCertSign | cRLSign, true),
      await x509.SubjectKeyIdentifierExtension.create(keys.publicKey),
    ],
  });
  const privateKey = Buffer.from(await webcrypto.subtle.exportKey('pkcs8', keys.privateKey));
  return { certificate: certificate.toString('pem'), privateKey };
}

/** Makes a stored root able to sign. */
export async function openRoot({ certificate, privateKey }: NewRoot): Promise<SigningRoot> {
  const key = await webcrypto.subtle.importKey('pkcs8', privateKey, keyAlgorithm, false, ['sign']);
  return { certificate: new x509.X509Certificate(certificate), key };
}

/** Signs a leaf for servers and clients with exactly one URI, its SPIFFE id. */
export async function signLeaf(root: SigningRoot, content: LeafContent): Promise<SignedLeaf> {
  const serialNumber = newSerial();
  const uri: x509.JsonGeneralName = { type: 'url', value: content.spiffeId };
  const leaf = await x509.X509CertificateGenerator.create({
    serialNumber,
    subject: subjectOf(content),
    issuer: root.certificate.subjectName.toJSON(),
    ...datesOf(content.validity),
    publicKey: content.publicKey,
    signingKey: root.key,
    signingAlgorithm: keyAlgorithm,
    extensions: [
      new x509.BasicConstraintsExtension(false, undefined, true),
      new x509.KeyUsagesExtension(x509.KeyUsageFlags.digitalSignature, true),
      new x509.ExtendedKeyUsageExtension(serverAndClient),
      new x509.SubjectAlternativeNameExtension([uri, ...content.names]),
      await x509.AuthorityKeyIdentifierExtension.create(root.certificate.publicKey),
    ],
  });
  return { certificate: leaf.toString('pem'), serial: serialNumber };
}

/** A common name has 64 characters at most (X.520), an agent's id up to 128. */
function subjectOf({ commonName, grant }: LeafContent): x509.JsonName {
  const name = { CN: [commonName.slice(0, commonNameMax)] };
  if (!grant) return [name];
  return [
    name,
    { [userIdType]: [grant.ownerId] },
    { OU: [grant.sessionId] },
    { [serialNumberType]: [epochName(grant)] },
    ...(grant.kind === 'service' ? [{ [titleType]: [serviceTitle] }] : []),
  ];
}

function datesOf({ fromMs, untilMs }: Validity): { notBefore: Date; notAfter: Date } {
  return { notBefore: new Date(fromMs), notAfter: new Date(untilMs) };
}

/** Positive, 127 random bits (RFC 5280, section 4.1.2.2). */
function newSerial(): string {
  const bytes = randomBytes(16);
  bytes[0] = ((bytes[0] ?? 0) & 0x7f) | 0x40;
  return bytes.toString('hex');
}
