import { describe, expect, test, vi } from 'vitest';
import { Fault } from '../../kit/errors.ts';
import type { ToolRules } from '../conversations/conversation.ts';
import { aCaller } from '../voice/testing.ts';
import { RegistryTools } from './registry-tools.ts';
import { aTool, reads, scriptRegistry } from './testing.ts';
import { offeredMax } from './tool-rules.ts';

const caller = aCaller('usr_one', ['registry:call']);
const nobody = aCaller('usr_two');

function rules(allow: readonly string[], approval: ToolRules['approval'] = 'writes'): ToolRules {
  return { allow, approval };
}

function open(tools: readonly unknown[] = []) {
  const { registry, clients } = scriptRegistry(tools);
  return { registry, tools: new RegistryTools({ clients }) };
}

const signal = new AbortController().signal;
const aCall = (name: string, given = '{}') => ({ id: 'call_1', name, arguments: given });

describe('what models are told of', () => {
  test('is what the rules allow and the registry has', async () => {
    const { tools } = open([aTool('a__x'), aTool('a__y'), aTool('b__x'), aTool('ab__x')]);
    const offers = async (...allow: string[]) =>
      (await tools.offers(caller, rules(allow))).map(({ name }) => name);
    expect(await offers('a__*')).toEqual(['a__x', 'a__y']);
    expect(await offers('b__x', 'gone__x')).toEqual(['b__x']);
    expect(await offers('*', '__*', 'a__')).toEqual([]);
  });

  test('is nothing for who may call no tools, nor when nothing is allowed, and nobody is asked', async () => {
    const { tools, registry } = open([aTool('a__x')]);
    expect(await tools.offers(nobody, rules(['a__*']))).toEqual([]);
    expect(await tools.offers(caller, rules([]))).toEqual([]);
    expect(registry.asked).toEqual([]);
  });

  test('is nothing while the registry is away, and what it has when it is back', async () => {
    const { tools, registry } = open([aTool('a__x')]);
    registry.list = () => Promise.reject(new Fault('unavailable', 'registry cannot be reached'));
    expect(await tools.offers(caller, rules(['a__*']))).toEqual([]);
    registry.list = undefined;
    expect(await tools.offers(caller, rules(['a__*']))).toHaveLength(1);
  });

  test('says of a tool that does not say that it only reads that it needs approval', async () => {
    const { tools } = open([
      aTool('a__read', reads),
      aTool('a__write'),
      aTool('a__false', { annotations: { readOnlyHint: 'true' } }),
      aTool('a__both', { annotations: { readOnlyHint: true, destructiveHint: true } }),
    ]);
    const needing = async (approval: ToolRules['approval']) => {
      const offers = await tools.offers(caller, rules(['a__*'], approval));
      return offers.filter(({ needsApproval }) => needsApproval).map(({ name }) => name);
    };
    expect(await needing('writes')).toEqual(['a__write', 'a__false', 'a__both']);
    expect(await needing('always')).toHaveLength(4);
    expect(await needing('never')).toEqual([]);
  });

  test('has names that all providers take, each its own, the same each time', async () => {
    const long = `server__${'very_long_name_'.repeat(6)}`;
    const names = ['my.srv__a', 'my.srv__b', `${long}1`, `${long}2`, 'plain__a', 'plain__ä.ö'];
    const first = await open(names.map((name) => aTool(name))).tools.list(caller);
    const second = await open(names.toReversed().map((name) => aTool(name))).tools.list(caller);
    const byId = (list: typeof first) => Object.fromEntries(list.map((one) => [one.id, one.name]));
    expect(byId(first)).toEqual(byId(second));
    expect(new Set(first.map(({ name }) => name)).size).toBe(names.length);
    for (const { name } of first) expect(name).toMatch(/^[a-zA-Z0-9_-]{1,64}$/);
    expect(byId(first)['plain__a']).toBe('plain__a');
  });

  test('keeps a name that is fit from being taken by one that was made fit', async () => {
    const [odd] = await open([aTool('my.srv__a')]).tools.list(caller);
    const made = odd?.name ?? '';
    const { tools, registry } = open([aTool('my.srv__a'), aTool(made)]);
    registry.call = () => ({ content: [] });
    const listed = await tools.list(caller);
    expect(listed.find(({ id }) => id === made)?.name).toBe(made);
    expect(listed.find(({ id }) => id === 'my.srv__a')?.name).not.toBe(made);
    // What is allowed is the registry's name, so that the one is not allowed by the other's.
    const offers = await tools.offers(caller, rules(['my.srv__*']));
    expect(offers.map(({ name }) => name)).not.toContain(made);
  });

  test('is bounded: descriptions, schemas, and how many there are', async () => {
    const properties = Object.fromEntries(
      Array.from({ length: 500 }, (_, index) => [`field${index}`, { description: 'x'.repeat(50) }]),
    );
    const many = Array.from({ length: 200 }, (_, index) => aTool(`a__${index}`));
    const { tools } = open([
      aTool('b__big', { description: '😀'.repeat(2_000), inputSchema: { properties } }),
      ...many,
      'no tool',
      null,
      { name: 7 },
      aTool('unqualified'),
    ]);
    const offers = await tools.offers(caller, rules(['b__*', 'a__*']));
    expect(offers).toHaveLength(offeredMax);
    expect(offers[0]?.parameters).toEqual({ type: 'object', additionalProperties: true });
    expect(offers[0]?.description).toMatch(/^\(Its parameters are too many/);
    expect(offers[0]?.description.length).toBeLessThanOrEqual(1_024);
    expect(JSON.stringify(offers[0]?.description)).not.toMatch(/\\ud/);
  });

  test('is asked for once in a few seconds, with the caller’s own credential', async () => {
    const { tools, registry } = open([aTool('a__x')]);
    const other = aCaller('usr_three', ['agent:execute']);
    await Promise.all([tools.list(caller), tools.list(caller), tools.list(other)]);
    await tools.list(caller);
    expect(registry.asked.map(({ credential }) => credential)).toEqual([
      'token-of-usr_one',
      'token-of-usr_three',
    ]);
  });
});

describe('rules', () => {
  test.each(['x', '*', '__x', 'a__', ''])('that are none (%s) are refused', async (rule) => {
    const { tools } = open([aTool('a__x')]);
    const refused = { code: 'invalid', reason: 'tool_not_found' };
    await expect(tools.check(caller, rules([rule]))).rejects.toMatchObject(refused);
  });

  test('that name what the registry does not have are refused, with what it is', async () => {
    const { tools, registry } = open([aTool('a__x')]);
    registry.connections.push(
      { name: 'a', status: 'active' },
      { name: 'old', status: 'disconnected' },
    );
    const checked = tools.check(caller, rules(['a__x', 'a__y', 'b__*', 'old__x']));
    await expect(checked).rejects.toMatchObject({ detail: { tools: ['a__y', 'b__*', 'old__x'] } });
  });

  test('that name a connection which is away are accepted', async () => {
    const { tools, registry } = open([aTool('a__x')]);
    registry.connections.push({ name: 'b', status: 'error' });
    await tools.check(caller, rules(['a__*', 'b__y']));
  });

  test('of who may call no tools are refused, unless they allow nothing', async () => {
    const { tools } = open([aTool('a__x')]);
    await expect(tools.check(nobody, rules(['a__x']))).rejects.toMatchObject({ code: 'forbidden' });
    await tools.check(nobody, rules([]));
  });

  test('are not accepted unseen while the registry is away', async () => {
    const { tools, registry } = open();
    registry.list = () => Promise.reject(new Fault('unavailable', 'registry cannot be reached'));
    await expect(tools.check(caller, rules(['a__x']))).rejects.toMatchObject({
      code: 'unavailable',
    });
  });
});

describe('a call', () => {
  function calling(result: unknown) {
    const opened = open([aTool('my.srv__x'), aTool('b__x')]);
    opened.registry.call = () => result;
    const run = async (given = '{}') => {
      const [tool] = await opened.tools.list(caller);
      return opened.tools.call(
        caller,
        rules(['my.srv__x']),
        aCall(tool?.name ?? '', given),
        signal,
      );
    };
    return { ...opened, run };
  }
  const text = (value: string) => ({ type: 'text', text: value });

  test('reaches the tool by the registry’s name, with what the model gave', async () => {
    const { run, registry } = calling({ content: [text('one'), text('two')] });
    expect(await run('{"a":1}')).toEqual({ content: 'one\ntwo', isError: false });
    const params = { name: 'my.srv__x', arguments: { a: 1 } };
    expect(registry.asked.at(-1)).toMatchObject({ method: 'tools/call', params });
    expect(await run(' ')).toMatchObject({ isError: false });
    expect(registry.asked.at(-1)).toMatchObject({ params: { arguments: {} } });
  });

  test.each(['{', '[]', '"x"', 'null', '7'])(
    'with %s for arguments goes back to the model',
    async (given) => {
      const { run, registry } = calling({ content: [] });
      expect(await run(given)).toMatchObject({ isError: true });
      expect(registry.asked.map(({ method }) => method)).toEqual(['tools/list']);
    },
  );

  test.each([
    ['{"text":"a\\u0000b"}', 'holds the character U+0000'],
    [`{"text":${'['.repeat(70)}${']'.repeat(70)}}`, 'is nested deeper than 64 levels'],
    [`{"text":${'['.repeat(400_000)}${']'.repeat(400_000)}}`, 'is nested too deeply'],
    ['{"__proto__":{"x":1}}', 'holds a forbidden key'],
  ])(
    'with arguments that no service reads go back to the model with the reason',
    async (given, reason) => {
      const { run, registry } = calling({ content: [] });
      expect(await run(given)).toEqual({
        content: `The tool could not be called: the JSON of the arguments ${reason}`,
        isError: true,
      });
      expect(registry.asked.map(({ method }) => method)).toEqual(['tools/list']);
    },
  );

  test('of what the rules do not allow, or nobody has, is not made', async () => {
    const { tools, registry } = calling({ content: [text('secret')] });
    for (const name of ['b__x', 'my.srv__x', 'nothing', '__proto__']) {
      const outcome = await tools.call(caller, rules(['my.srv__x']), aCall(name), signal);
      expect(outcome.isError).toBe(true);
    }
    expect(registry.asked.map(({ method }) => method)).toEqual(['tools/list']);
  });

  test.each([
    [{ structuredContent: { a: 1 }, content: [] }, '{"a":1}'],
    [{ structuredContent: { a: 1 }, content: [text('said')] }, 'said'],
    [{ content: [] }, '(The tool answered nothing.)'],
    [{}, '(The tool answered nothing.)'],
    [
      { content: [{ type: 'image', mimeType: 'image/png', data: 'A'.repeat(40_000) }] },
      '[image, image/png, 30 kB]',
    ],
    [
      { content: [{ type: 'resource', resource: { uri: 'f:a', text: 'inside' } }] },
      '[resource f:a]\ninside',
    ],
    [
      { content: [{ type: 'resource', resource: { uri: 'f:a', blob: 'AAAA', mimeType: 'x/y' } }] },
      '[resource f:a, x/y, 3 bytes]',
    ],
    [
      { content: [{ type: 'resource_link', uri: 'f:a', name: 'A', description: 'an\na' }] },
      '[link to the resource A: f:a] an a',
    ],
    [{ content: [{ type: 'new\nkind' }, 7, null] }, '[new kind, which cannot be shown here]'],
    [{ content: [text('a\u0000b\ud800')] }, 'a\uFFFDb\uFFFD'],
  ])('that answers %j says so in words', async (result, content) => {
    expect(await calling(result).run()).toEqual({ content, isError: false });
  });

  test('that fails says so', async () => {
    const { run } = calling({ content: [text('no such file')], isError: true });
    expect(await run()).toEqual({ content: 'no such file', isError: true });
    expect(await calling({ error: { code: -32_602, message: 'bad input' } }).run()).toEqual({
      content: 'The tool could not be called: bad input',
      isError: true,
    });
    const away = calling(Promise.reject(new Fault('unavailable', 'registry cannot be reached')));
    expect(await away.run()).toMatchObject({ isError: true });
    const late = calling(Promise.reject(new Fault('deadline', 'out of time')));
    expect((await late.run()).content).toContain('not known');
    const broken = calling(Promise.reject(new TypeError('internals')));
    expect((await broken.run()).content).not.toContain('internals');
  });

  test('that answers too much is cut, never within a character, and says so', async () => {
    const { content } = await calling({ content: [text('ä😀'.repeat(40_000))] }).run();
    expect(Buffer.byteLength(content)).toBeLessThanOrEqual(64 * 1024);
    expect(Buffer.byteLength(content)).toBeGreaterThan(63 * 1024);
    expect(content).toMatch(/[ä😀]\n\[Cut: this is the beginning of 235 KiB\.\]$/u);
    expect(content).not.toContain('\uFFFD');
  });

  test('rejects only when it is aborted', async () => {
    const { registry, tools } = open([aTool('a__x')]);
    const controller = new AbortController();
    registry.call = (_params, given) =>
      new Promise((_resolve, reject) =>
        given?.addEventListener('abort', () => reject(given.reason)),
      );
    const running = tools.call(caller, rules(['a__x']), aCall('a__x'), controller.signal);
    await vi.waitFor(() => expect(registry.asked).toHaveLength(2));
    controller.abort(new Error('stopped'));
    await expect(running).rejects.toThrow('stopped');
    const late = tools.call(caller, rules(['a__x']), aCall('a__x'), controller.signal);
    await expect(late).rejects.toThrow('stopped');
    expect(registry.asked).toHaveLength(2);
  });
});
