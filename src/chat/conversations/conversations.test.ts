import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openChatGround, type ChatGround } from '../testing.ts';
import { silentLog } from '../../kit/testing.ts';
import { titleOf } from './title.ts';
import type { ConversationNews, NewMessage } from './conversation.ts';
import { StoredConversations } from './stored-conversations.ts';

let ground: ChatGround;
let conversations: StoredConversations;
let other: StoredConversations;
const stopped: string[] = [];

beforeAll(async () => {
  ground = await openChatGround();
  [conversations, other] = await Promise.all([open(), open()]);
});

afterAll(async () => {
  await conversations[Symbol.asyncDispose]();
  await other[Symbol.asyncDispose]();
  await ground[Symbol.asyncDispose]();
});

/** A replica on the same ground. */
async function open(): Promise<StoredConversations> {
  const { database: sql, bus } = ground;
  const one = new StoredConversations({
    sql,
    bus,
    log: silentLog,
    stopTurn: async (_ownerId, id) => void stopped.push(id),
  });
  await one.start();
  return one;
}

const ask = (content: string): NewMessage => ({ role: 'user', content });
const pending: NewMessage = { role: 'assistant', content: '', status: 'pending' };

describe("another's conversation is not there", () => {
  const attempts: [string, (id: string) => Promise<unknown>][] = [
    ['found', (id) => other.find('b', id)],
    ['changed', (id) => other.change('b', id, { title: 'mine' })],
    ['removed', (id) => other.remove('b', id)],
    ['branched', (id) => other.branch('b', id, { messageId: 'msg_x' })],
    ['read', (id) => other.messages('b', id)],
    ['written to', (id) => other.append('b', id, [ask('hi')])],
  ];
  test.each(attempts)('to be %s', async (_what, attempt) => {
    const { id } = await conversations.create('a', { title: 'Private' });
    const refusal = { code: 'not_found', reason: 'conversation_not_found' };
    await expect(attempt(id)).rejects.toMatchObject(refusal);
    await expect(attempt('cnv_none')).rejects.toMatchObject(refusal);
    await expect(attempt("' or 1=1 --\0")).rejects.toMatchObject(refusal);
    expect(await conversations.find('a', id)).toMatchObject({ title: 'Private', messageCount: 0 });
  });
});

describe('messages', () => {
  test('get places without gaps, however many add them at once on two replicas', async () => {
    const { id } = await conversations.create('a');
    const added = await Promise.all(
      Array.from({ length: 30 }, (_, at) =>
        (at % 2 ? conversations : other).append('a', id, [ask(`q ${at}`), pending]),
      ),
    );
    for (const [first, second] of added) expect(second?.place).toBe((first?.place ?? 0) + 1);
    const messages = await conversations.messages('a', id);
    expect(messages.map(({ place }) => place)).toEqual(messages.map((_, at) => at + 1));
    expect(await conversations.find('a', id)).toMatchObject({ messageCount: 60 });
    const told = added.flat().toSorted((a, b) => a.place - b.place);
    expect(told).toEqual(messages);
  });

  test('keep every character but those that no database stores', async () => {
    const { id } = await conversations.create('a');
    const content = 'a\0b \ud800 \udc00 😀 \ud83d\ude00 "quoted" \\u0000';
    const expected = 'a\ufffdb \ufffd \ufffd 😀 😀 "quoted" \\u0000';
    const toolCalls = [{ id: 'c', name: 'n', arguments: '{"a":"\\u0000"}' }];
    const parts = [{ type: 'text', text: '\0' }];
    await conversations.append('a', id, [
      { role: 'user', content, parts },
      { role: 'assistant', content, toolCalls },
    ]);
    const [user, assistant] = await other.messages('a', id);
    expect(user).toMatchObject({ content: expected, parts: [{ type: 'text', text: '\ufffd' }] });
    expect(assistant).toMatchObject({ content: expected, toolCalls });
  });

  test('of a mebibyte are kept whole, and refused above it', async () => {
    const { id } = await conversations.create('a');
    await conversations.append('a', id, [ask('ä'.repeat(512 * 1024))]);
    await expect(
      conversations.append('a', id, [ask('ä'.repeat(600 * 1024))]),
    ).rejects.toMatchObject({ code: 'invalid', reason: 'message_too_large' });
    const [message] = await other.messages('a', id);
    expect(message?.content).toHaveLength(512 * 1024);
  });

  test('come in pages', async () => {
    const { id } = await conversations.create(
      'a',
      {},
      Array.from({ length: 5 }, () => ask('hi')),
    );
    const places = async (options: { after?: number; limit?: number }) =>
      (await other.messages('a', id, options)).map(({ place }) => place);
    expect(await places({})).toEqual([1, 2, 3, 4, 5]);
    expect(await places({ after: 2, limit: 2 })).toEqual([3, 4]);
    expect(await places({ after: 4, limit: 2 })).toEqual([5]);
    expect(await places({ after: 99 })).toEqual([]);
  });
});

describe('a pending message', () => {
  test('is filled in once, with the counts of its conversation', async () => {
    const { id } = await conversations.create('a', { model: 'm' });
    const [, answer] = await conversations.append('a', id, [
      ask('why?'),
      { ...pending, model: 'm' },
    ]);
    const messageId = answer?.id ?? '';
    const usage = { promptTokens: 3, completionTokens: 4, totalTokens: 7, cost: 0.5 };
    const end = { content: 'be\0cause', status: 'complete', usage } as const;
    const ends = await Promise.all([
      conversations.complete(messageId, end),
      other.complete(messageId, end),
    ]);
    const done = ends.filter((one) => one !== undefined);
    expect(done).toEqual([
      { ...answer, content: 'be\ufffdcause', status: 'complete', usage, model: 'm' },
    ]);
    expect(await conversations.messages('a', id, { after: 1 })).toEqual(done);
    expect(await conversations.find('a', id)).toMatchObject({ totalTokens: 7, cost: 0.5 });
    expect(await other.complete(messageId, end)).toBeUndefined();
    expect(await other.complete('msg_none', end)).toBeUndefined();
  });

  test('is gone with its conversation', async () => {
    const { id } = await conversations.create('a');
    const [answer] = await conversations.append('a', id, [pending]);
    await conversations.remove('a', id);
    expect(stopped).toContain(id);
    const end = { content: 'late', status: 'complete' } as const;
    expect(await conversations.complete(answer?.id ?? '', end)).toBeUndefined();
    await expect(conversations.append('a', id, [ask('hi')])).rejects.toMatchObject({
      reason: 'conversation_not_found',
    });
  });
});

describe('a branch', () => {
  test('holds copies up to its message, without calls that have no result in it', async () => {
    const call = (name: string) => ({ id: name, name, arguments: '{}' });
    const { id } = await conversations.create('a', { title: 'Trunk', model: 'm' });
    const messages = await conversations.append('a', id, [
      ask('do it'),
      { role: 'assistant', content: '', toolCalls: [call('one'), call('two')] },
      { role: 'tool', content: '1', toolCallId: 'one' },
      { role: 'tool', content: '2', toolCallId: 'two' },
      { role: 'assistant', content: '', toolCalls: [call('three')] },
      { role: 'tool', content: '3', toolCallId: 'three' },
      { ...pending, turnId: 'trn_1' },
    ]);
    const branchAt = async (place: number) => {
      const messageId = messages[place - 1]?.id ?? '';
      const branch = await other.branch('a', id, { messageId });
      expect(branch).toMatchObject({
        title: 'Trunk',
        model: 'm',
        branchedFrom: { conversationId: id, messageId },
      });
      const copies = await conversations.messages('a', branch.id);
      expect(copies.map((one) => one.place)).toEqual(copies.map((_, at) => at + 1));
      expect(branch.messageCount).toBe(copies.length);
      return copies;
    };
    expect((await branchAt(1)).map(({ content }) => content)).toEqual(['do it']);
    expect((await branchAt(2)).map(({ content }) => content)).toEqual(['do it']);
    const half = await branchAt(3);
    expect(half[1]?.toolCalls).toEqual([call('one')]);
    expect(half).toHaveLength(3);
    const whole = await branchAt(7);
    expect(whole.map(({ role }) => role)).toEqual(messages.slice(0, 6).map(({ role }) => role));
    expect(new Set([...whole, ...messages].map((one) => one.id)).size).toBe(13);
    expect(whole[0]).toMatchObject({ createdAtMs: messages[0]?.createdAtMs });
  });

  test('counts the answers that it was copied with, and its own', async () => {
    const usage = (totalTokens: number, cost?: number) => ({
      usage: { promptTokens: 1, completionTokens: 1, totalTokens, ...(cost && { cost }) },
    });
    const { id } = await conversations.create('a');
    const answer = { role: 'assistant', content: 'yes' } as const;
    const messages = await conversations.append('a', id, [
      ask('one'),
      { ...answer, ...usage(3, 0.1) },
      { ...answer, content: '', toolCalls: [{ id: 'c', name: 'n', arguments: '{}' }], ...usage(5) },
      { ...answer, ...usage(7, 0.2) },
      { ...answer, ...usage(11, 0.125) },
    ]);
    const branchAt = (place: number) =>
      other.branch('a', id, { messageId: messages[place - 1]?.id ?? '' });
    expect(await branchAt(1)).toMatchObject({ totalTokens: 0, cost: 0 });
    const branch = await branchAt(4);
    expect(branch).toMatchObject({ totalTokens: 10, cost: 0.3 });
    await conversations.append('a', branch.id, [{ ...answer, ...usage(2, 1) }]);
    expect(await other.find('a', branch.id)).toMatchObject({ totalTokens: 12, cost: 1.3 });
  });

  test('is refused behind a message of another conversation', async () => {
    const mine = await conversations.create('a');
    const { id } = await conversations.create('a');
    const [message] = await conversations.append('a', id, [ask('hi')]);
    await expect(
      conversations.branch('a', mine.id, { messageId: message?.id ?? '' }),
    ).rejects.toMatchObject({ code: 'not_found', reason: 'message_not_found' });
  });

  test('goes on by itself, and outlives what it came from', async () => {
    const { id } = await conversations.create('a');
    const [message] = await conversations.append('a', id, [ask('hi')]);
    const branch = await conversations.branch('a', id, {
      messageId: message?.id ?? '',
      title: 'Other way',
    });
    await conversations.append('a', branch.id, [ask('and now?')]);
    await conversations.remove('a', id);
    expect(await other.messages('a', branch.id)).toHaveLength(2);
    expect(await other.find('a', branch.id)).toMatchObject({ title: 'Other way', messageCount: 2 });
  });
});

test('conversations are listed by their last use, with the number of all', async () => {
  const first = await conversations.create('lister', { title: 'first' });
  await waitForNextMs();
  const second = await conversations.create('lister', { title: 'second' });
  await waitForNextMs();
  const third = await conversations.create('lister', { title: 'third' });
  await waitForNextMs();
  await conversations.append('lister', first.id, [ask('again')]);
  const titles = async (offset: number) => {
    const { conversations: found, total } = await other.list('lister', { limit: 2, offset });
    expect(total).toBe(3);
    return found.map(({ title }) => title);
  };
  expect(await titles(0)).toEqual(['first', 'third']);
  expect(await titles(2)).toEqual(['second']);
  expect(await titles(4)).toEqual([]);
  expect(await other.list('nobody', { limit: 2, offset: 0 })).toEqual({
    conversations: [],
    total: 0,
  });
  expect([second.title, third.title]).toEqual(['second', 'third']);
});

describe('the first message of a user', () => {
  test('names a conversation that has no title, and no other', async () => {
    const { id, title } = await conversations.create('a');
    expect(title).toBe('New conversation');
    await conversations.append('a', id, [{ role: 'system', content: 'Be brief.' }]);
    await conversations.append('a', id, [ask('What is a monad?\nReally.')]);
    await conversations.append('a', id, [ask('And a functor?')]);
    expect(await conversations.find('a', id)).toMatchObject({ title: 'What is a monad?' });
    const named = await conversations.create('a', { title: 'Named' }, [ask('Other')]);
    expect(named).toMatchObject({ title: 'Named', messageCount: 1 });
    expect(await conversations.create('a', {}, [ask('Brought along')])).toMatchObject({
      title: 'Brought along',
    });
  });

  test.each([
    ['  \n\n First line\nsecond', 'First line'],
    ['word '.repeat(30), 'word '.repeat(12).trim()],
    ['x'.repeat(100), 'x'.repeat(60)],
    ['😀'.repeat(100), '😀'.repeat(60)],
    ['a\tb   c', 'a b c'],
    [' \n ', undefined],
  ])('%j is shortened to %j', (content, title) => {
    expect(titleOf(content)).toBe(title);
  });
});

test('news reach each replica once, large messages too', async () => {
  const heard: [string, ConversationNews][] = [];
  const stops = [
    conversations.listen((news) => void heard.push(['here', news])),
    other.listen((news) => void heard.push(['there', news])),
  ];
  const large = 'x'.repeat(500_000);
  const { id } = await conversations.create('news', { title: 'News' });
  await conversations.append('news', id, [ask(large)]);
  await conversations.change('news', id, { title: 'Old news' });
  await conversations.remove('news', id);
  await expect.poll(() => heard.length).toBe(8);
  for (const where of ['here', 'there']) {
    const news = heard.filter(([at]) => at === where).map(([, one]) => one);
    expect(news.map(({ type }) => type).toSorted()).toEqual([
      'changed',
      'created',
      'deleted',
      'message',
    ]);
    expect(news.find(({ type }) => type === 'message')?.message?.content).toBe(large);
    expect(news.find(({ type }) => type === 'changed')?.conversation?.title).toBe('Old news');
  }
  for (const stop of stops) stop();
  await conversations.create('news');
  expect(heard).toHaveLength(8);
});

async function waitForNextMs(): Promise<void> {
  const now = Date.now();
  await expect.poll(() => Date.now(), { interval: 1 }).toBeGreaterThan(now);
}
