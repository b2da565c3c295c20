import { afterAll, beforeAll, expect, it } from 'vitest';
import { ask, openReplica, openTurnsGround, readAll, type TurnsGround } from './testing.ts';

const ada = 'usr_ada';
let ground: TurnsGround;
let replica: Awaited<ReturnType<typeof openReplica>>;

beforeAll(async () => {
  ground = await openTurnsGround();
  replica = await openReplica(ground);
});

afterAll(async () => {
  await replica[Symbol.asyncDispose]();
  await ground[Symbol.asyncDispose]();
});

const image = (url: unknown) => ({ type: 'image_url', image_url: { url } });
const audio = (data: unknown, format: unknown) => ({
  type: 'input_audio',
  input_audio: { data, format },
});
const file = (fields: object) => ({ type: 'file', file: fields });
const question = (part: unknown) => ({
  messages: [{ role: 'user', content: [{ type: 'text', text: 'see' }, part] }],
});

it.each<[field: string, part: unknown]>([
  ['image_url', { type: 'image_url' }],
  ['image_url', { type: 'image_url', image_url: 'file:///tmp/a.png' }],
  ['image_url.url', image('file:///tmp/a.png')],
  ['image_url.url', image('blob:http://x.test/1')],
  ['image_url.url', image('data:image/png,not base64')],
  ['image_url.url', image('')],
  ['image_url.url', image(7)],
  ['image_url.detail', { type: 'image_url', image_url: { url: 'http://x.test/', detail: 1 } }],
  ['input_audio', { type: 'input_audio', input_audio: 'AA==' }],
  ['input_audio.data', audio('', 'wav')],
  ['input_audio.format', audio('AA==', 'ogg')],
  ['file', { type: 'file' }],
  ['file.file_data', file({})],
  ['file.file_data', file({ file_data: 'ftp://x.test/a.pdf' })],
  ['file.filename', file({ file_data: 'AA==', filename: 1 })],
  ['text', { type: 'input_text' }],
])('a part with a wrong %s is refused before anything is stored', async (field, part) => {
  const { id } = await replica.conversations.create(ada);
  const param = `messages.0.content.1.${field}`;
  for (const place of [id, undefined]) {
    await expect(replica.turns.begin(ask('', place, question(part)))).rejects.toMatchObject({
      code: 'invalid',
      reason: 'validation_error',
      detail: { param },
    });
  }
  expect(await replica.conversations.messages(ada, id)).toEqual([]);
  expect(ground.gateway.asked).toEqual([]);
});

it.each<[part: unknown]>([
  [{ type: 'image_url', image_url: 'http://x.test/a.png' }],
  [image('HTTPS://x.test/a.png')],
  [image('data:image/png;charset=utf-8;base64,AA==')],
  [audio('AA==', 'mp3')],
  [file({ file_id: 'file-1' })],
  [file({ file_data: 'AA==', filename: null })],
  [{ type: 'video_url', video_url: { url: 'x' } }],
])('%j goes to the model as it is', async (part) => {
  const { id } = await replica.conversations.create(ada);
  const asked = question(part);
  await readAll(replica.turns, (await replica.turns.begin(ask('', id, asked))).id);
  expect(ground.gateway.asked.pop()?.body.messages).toEqual(asked.messages);
});
