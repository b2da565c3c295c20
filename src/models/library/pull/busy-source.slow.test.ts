import { expect, test } from 'vitest';
import { openGround, readRandomModel, startSource } from '../testing.ts';

test('a busy source is left in peace for as long as it asks', async () => {
  await using source = await startSource();
  await using ground = await openGround();
  source.files.set('/some-model.gguf', { content: await readRandomModel(), busySeconds: [1] });
  const told = await ground.pull(`${source.origin}/some-model.gguf`);
  expect(told.map(({ status }) => status)).toContainEqual(
    expect.stringMatching(/status 503: trying again in 1 s$/),
  );
  expect(await ground.library.list()).toMatchObject([{ name: 'some-model' }]);
});
