import { Command } from 'commander';
import { addCommand, show } from '../operator/administration.ts';
import type { IssueOptions, KeyOptions, RootOptions } from './certificate-access.ts';
import { printFacts } from '../output.ts';

/** `ennead certs …` */
export function certsCommand(): Command {
  const group = new Command('certs').description(
    'get certificates for agents that speak gRPC, and change what the mesh signs with',
  );
  addCommand(group, 'issue', '--agent-id planner-1 --out ./certs')
    .description(
      'write key.pem, cert.pem and ca.pem for an agent that is yours or not registered yet; good for an hour',
    )
    .requiredOption('--agent-id <id>', 'the agent that the certificate is to name')
    .requiredOption('--out <folder>', 'where to write the files, readable by their owner only')
    .option('--renew', 'stay, and renew cert.pem and ca.pem in time until interrupted')
    .action((options: IssueOptions) => issue(options));
  addCommand(group, 'roll-root', '')
    .description('make the next root of the certificates; no call fails')
    .option('--urgent', 'let it sign at once, for a root whose key others may know')
    .action((options: RootOptions) => rollRoot(options));
  addCommand(group, 'rotate-key', '')
    .description('let the next key sign attestations; none ends')
    .option('--compromised', 'withdraw the present key, and all that it attested, at once')
    .action((options: KeyOptions) => rotateKey(options));
  return group;
}

// What talks to the suite is loaded by the command that needs it, so that help comes at once.

async function issue(options: IssueOptions): Promise<void> {
  const { issueFiles } = await import('./certificate-access.ts');
  await issueFiles(options, (written) => show(options, written, () => printFacts({ ...written })));
}

async function rollRoot(options: RootOptions): Promise<void> {
  const { rollRoot: roll } = await import('./certificate-access.ts');
  const { generation, signsFrom } = await roll(options);
  show(options, { generation, signsFrom }, printFacts);
}

async function rotateKey(options: KeyOptions): Promise<void> {
  const { rotateKey: rotate } = await import('./certificate-access.ts');
  show(options, await rotate(options), (answer) => printFacts({ ...answer }));
}
