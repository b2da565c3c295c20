import { join, resolve } from 'node:path';
import { Fault } from '../../kit/errors.ts';
import { endHungUp, untilSignal } from '../../kit/lifecycle.ts';
import { writeSecretFile } from '../../kit/secrets/secret-file.ts';
import { RenewedIdentity, type IssuedIdentity } from '../../mesh/certificates/renewed-identity.ts';
import { createRequest } from '../../mesh/certificates/request.ts';
import { meshContract } from '../../mesh/contract.ts';
import { attestationRoutes } from '../../mesh/schemas/attestation.ts';
import { certificateRoutes } from '../../mesh/schemas/certificates.ts';
import type { AdministrationOptions } from '../operator/work.ts';
import { printRemark } from '../output.ts';
import { accessService } from '../operator/service-access.ts';

export interface IssueOptions extends AdministrationOptions {
  readonly agentId: string;
  readonly out: string;
  readonly renew?: boolean;
}

export interface RootOptions extends AdministrationOptions {
  readonly urgent?: boolean;
}

export interface KeyOptions extends AdministrationOptions {
  readonly compromised?: boolean;
}

/** Where a certificate was written and how long it is good. */
export interface WrittenCertificate {
  readonly agentId: string;
  readonly certificate: string;
  readonly key: string;
  readonly ca: string;
  readonly expiresAt: string;
}

const { rotateAttestationKey } = attestationRoutes;
const contract = { ...meshContract, routes: { ...certificateRoutes, rotateAttestationKey } };
const stopMs = 5_000;

/**
 * Gets a certificate with the operator's identity and writes it with its key; the key is made here and
 * goes nowhere. With `renew` it stays, and writes a fresh certificate for the same key at half of each
 * one's life, until it is interrupted. The session is left, as what ends it ends the certificate.
 */
export async function issueFiles(
  options: IssueOptions,
  onWritten: (written: WrittenCertificate) => void,
): Promise<void> {
  const { agentId } = options;
  await using access = await accessService(contract, options, { leavesSession: true });
  const { csr, privateKey } = await createRequest(agentId);
  const issue = async (): Promise<IssuedIdentity> => {
    const asked = access.client.issueCertificate({ body: { agentId, csr } });
    const { certificate, ca, expiresAt } = await asked.catch((error: unknown) => {
      throw access.explain(error);
    });
    return { certificate, ca, privateKey, expiresAtMs: Date.parse(expiresAt) };
  };
  const write = async (issued: IssuedIdentity) => onWritten(await writeFiles(options, issued));
  if (!options.renew) return write(await issue());
  const told = untilSignal(stopMs);
  using identity = await RenewedIdentity.open({ issue, onFailure });
  await write(identity.current);
  identity.onRenewal((issued) => void write(issued).catch(onFailure));
  // The renewal alone would not keep the process.
  const stay = setInterval(() => {}, 2 ** 30);
  if ((await told) === 'SIGHUP') endHungUp();
  clearInterval(stay);
}

/** Makes the next root, as the operator. */
export async function rollRoot({ urgent = false, ...options }: RootOptions) {
  await using access = await accessService(contract, options);
  return access.client.rollRoot({ body: { urgent } }).catch((error: unknown) => {
    throw access.explain(error);
  });
}

/** Makes the next key of attestations, as the operator. */
export async function rotateKey({ compromised = false, ...options }: KeyOptions) {
  await using access = await accessService(contract, options);
  return access.client.rotateAttestationKey({ body: { compromised } }).catch((error: unknown) => {
    throw access.explain(error);
  });
}

/** The certificate comes last: whoever waits for it finds the rest there. */
async function writeFiles(
  { agentId, out }: IssueOptions,
  { certificate, privateKey, ca, expiresAtMs }: IssuedIdentity,
): Promise<WrittenCertificate> {
  const folder = resolve(out);
  const files = {
    key: join(folder, 'key.pem'),
    ca: join(folder, 'ca.pem'),
    certificate: join(folder, 'cert.pem'),
  };
  await writeSecretFile(files.key, privateKey);
  await writeSecretFile(files.ca, ca);
  await writeSecretFile(files.certificate, certificate);
  return { agentId, ...files, expiresAt: new Date(expiresAtMs).toISOString() };
}

function onFailure(error: unknown): void {
  printRemark(`the certificate was not renewed: ${Fault.from(error).message}; trying again`);
}
