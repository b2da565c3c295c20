import { readFile } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { startService } from '../../kit/testing.ts';
import { models } from '../service.ts';

const page = new URL('../../../docs/models.md', import.meta.url);

test('the first example of its page is answered as the page shows', async () => {
  const text = await readFile(page, 'utf8');
  const asked = /-d '(\{.*\})'/.exec(text)?.[1] ?? '';
  const shown = JSON.parse(/```json\n(.*?)```/s.exec(text)?.[1] ?? '');
  await using service = await startService(models, { environment: { MODELS_THREADS: '1' } });
  const answer = await service.app.inject({
    method: 'POST',
    url: '/invoke',
    headers: { authorization: `Bearer ${await service.issuer.sign()}` },
    payload: JSON.parse(asked),
  });
  const { output, model } = shown.result;
  expect(answer.json()).toMatchObject({ result: { output, model }, cost: shown.cost });
});
