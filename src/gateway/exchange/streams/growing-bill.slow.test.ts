import { copyFile, mkdir, mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test, vi } from 'vitest';
import { openBus } from '../../../kit/bus/open-bus.ts';
import { silentLog } from '../../../kit/testing.ts';
import { openGatewayDatabase } from '../../cache/testing.ts';
import { startMoney } from '../../money/testing.ts';
import { openAiStream, startGateway, startProvider, stream } from '../../testing.ts';

const unfinished = 'spend-0.unfinished';

/** What counts for a process that begins where another died that had left these files. */
async function countAfterDeath(dataFolder: string) {
  const folder = await mkdtemp(join(tmpdir(), 'ennead-unfinished-'));
  await mkdir(join(folder, 'gateway'));
  await copyFile(join(dataFolder, 'gateway', unfinished), join(folder, 'gateway', unfinished));
  await using database = await openGatewayDatabase();
  await using bus = await openBus({ log: silentLog });
  await using money = await startMoney({
    sql: database,
    topic: bus.topic('gateway.budgets'),
    dataFolder: folder,
  });
  const days = { from: '2000-01-01', to: '2999-12-31', groupBy: 'model' } as const;
  const page = { subject: 'usr_one', limit: 10, offset: 0 };
  const { totals } = await money.ledger.report({ ...days, ...page });
  await rm(folder, { recursive: true });
  return totals;
}

test('what a stream took is billed when its gateway dies in the middle of it, and only then', async () => {
  let finish: () => void = () => {};
  const words = openAiStream(Array.from({ length: 40 }, () => 'word '));
  await using upstream = await startProvider(async (received, response) => {
    await stream(words.slice(0, 21), 'hang')(received, response);
    await new Promise<void>((resolve) => {
      finish = resolve;
    });
    response.end(words.slice(21).join(''));
  });
  await using gateway = await startGateway();
  const models = [{ name: 'm', inputCostPerMToken: 1, outputCostPerMToken: 1_000 }];
  await gateway.put('up', { dialect: 'openai', baseUrl: `${upstream.url}/v1`, models });
  const { dataFolder } = gateway.host;
  const question = { model: 'm', stream: true, messages: [{ role: 'user', content: 'hi' }] };
  const answer = gateway.call('POST', '/v1/chat/completions', question);

  const list = () => readdir(join(dataFolder, 'gateway'));
  await vi.waitFor(async () => expect(await list()).toContain(unfinished), 10_000);
  const counted = await countAfterDeath(dataFolder);
  expect(counted).toMatchObject({ requests: 1, outputTokens: expect.any(Number) });
  expect(counted.outputTokens).toBeGreaterThanOrEqual(20);
  expect(counted.dollars).toBeGreaterThanOrEqual(0.02);

  finish();
  await answer;
  expect(await countAfterDeath(dataFolder)).toMatchObject({ requests: 0, dollars: 0 });
});
