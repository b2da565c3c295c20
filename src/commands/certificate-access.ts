import { join, resolve } from 'node:path';
import { addressBook } from '../addresses.ts';
import { authContract } from '../auth/contract.ts';
import { createClient } from '../kit/client.ts';
import { processEnvironment, readConfig } from '../kit/config.ts';
import { Fault } from '../kit/errors.ts';
import { untilSignal } from '../kit/lifecycle.ts';
import { writeSecretFile } from '../kit/secrets/secret-file.ts';
import { RenewedIdentity, type IssuedIdentity } from '../mesh/certificates/renewed-identity.ts';
import { createRequest } from '../mesh/certificates/request.ts';
import { meshContract } from '../mesh/contract.ts';
import { certificateRoutes } from '../mesh/schemas/certificates.ts';
import { addressSetting, suiteSettings } from '../suite-settings.ts';
import type { AdministrationOptions } from './administration.ts';
import { tracer } from './auth-session.ts';
import { logIn } from './login.ts';
import { printRemark } from './output.ts';

export interface IssueOptions extends AdministrationOptions {
  readonly agentId: string;
  readonly out: string;
  readonly renew?: boolean;
}

/** Where a certificate was written and how long it is good. */
export interface WrittenCertificate {
  readonly agentId: string;
  readonly certificate: string;
  readonly key: string;
  readonly ca: string;
  readonly expiresAt: string;
}

const contract = { ...meshContract, routes: certificateRoutes };
const stopMs = 5_000;

/**
 * Gets a certificate with the operator's identity and writes it with its key; the key is made here and
 * goes nowhere. With `renew` it stays, and writes a fresh certificate for the same key at half of each
 * one's life, until it is interrupted.
 */
export async function issueFiles(
  options: IssueOptions,
  onWritten: (written: WrittenCertificate) => void,
): Promise<void> {
  const { agentId } = options;
  const place = readPlace();
  await using login = await logIn(place, options);
  const { token, forgetToken } = login;
  const baseUrl = place.meshUrl;
  const client = createClient(contract, {
    baseUrl,
    tracer,
    token,
    ...(forgetToken ? { forgetToken } : {}),
  });
  const { csr, privateKey } = await createRequest(agentId);
  const issue = async (): Promise<IssuedIdentity> => {
    const { certificate, ca, expiresAt } = await client.issueCertificate({
      body: { agentId, csr },
    });
    return { certificate, ca, privateKey, expiresAtMs: Date.parse(expiresAt) };
  };
  const write = async (issued: IssuedIdentity) => onWritten(await writeFiles(options, issued));
  if (!options.renew) return write(await explained(baseUrl, issue));
  const told = untilSignal(stopMs);
  using identity = await explained(baseUrl, () => RenewedIdentity.open({ issue, onFailure }));
  await write(identity.current);
  identity.onRenewal((issued) => void write(issued).catch(onFailure));
  // The renewal alone would not keep the process.
  const stay = setInterval(() => {}, 2 ** 30);
  await told;
  clearInterval(stay);
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

async function explained<Value>(meshUrl: string, work: () => Promise<Value>): Promise<Value> {
  try {
    return await work();
  } catch (error) {
    const isAway = error instanceof Fault && error.code === 'unavailable';
    if (!isAway) throw error;
    const sentence = `mesh cannot be reached at ${meshUrl}: is the suite running? Start it with "ennead up"`;
    throw new Fault('unavailable', sentence, { cause: error });
  }
}

function readPlace() {
  const groups = {
    suite: suiteSettings,
    addresses: { auth: addressSetting(authContract.name), mesh: addressSetting(meshContract.name) },
  };
  const { suite, addresses } = readConfig(groups, processEnvironment());
  const addressOf = (service: string) =>
    service === authContract.name ? addresses.auth : addresses.mesh;
  const book = addressBook({ suite, addressOf }, []);
  return {
    suite,
    authUrl: book.urlOf(authContract.name),
    meshUrl: book.urlOf(meshContract.name),
    dataFolder: resolve(suite.dataFolder),
  };
}
