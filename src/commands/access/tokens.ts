import { Command } from 'commander';
import { Fault } from '../../kit/errors.ts';
import { addCommand, administer, ask, show } from '../operator/administration.ts';
import type { AdministrationOptions } from '../operator/work.ts';
import { printFacts, printJson, printLine } from '../output.ts';
import { readSecret } from '../operator/secret-input.ts';

/** `ennead tokens …`; the token comes from standard input, where no list of processes shows it. */
export function tokensCommand(): Command {
  const group = new Command('tokens').description('check and revoke tokens');
  addCommand(group, 'validate', '< token.txt')
    .description('say whether an access token is good and what it states; exit code 1 if not')
    .action((options: AdministrationOptions) => validate(options));
  addCommand(group, 'revoke', '< token.txt')
    .description('revoke an access token, or with a refresh token its session')
    .action((options: AdministrationOptions) => revoke(options));
  return group;
}

async function validate(options: AdministrationOptions): Promise<void> {
  const token = await readToken();
  await ask(async (client) => {
    const answer = await client.validate({ body: { token } });
    const { valid, payload, error, message } = answer;
    show(options, answer, () => {
      printFacts({ valid, error, message });
      if (payload) printJson(payload);
    });
    return valid ? 0 : 1;
  });
}

async function revoke(options: AdministrationOptions): Promise<void> {
  const token = await readToken();
  await administer(options, async (client) => {
    const answer = await client.revoke({ body: { token } });
    if (!answer.revoked && !options.json) {
      throw new Fault('not_found', 'that is no token of this suite, or it has expired');
    }
    show(options, answer, () => printLine('revoked'));
    return answer.revoked ? 0 : 1;
  });
}

async function readToken(): Promise<string> {
  return (await readSecret('the token')).trim();
}
