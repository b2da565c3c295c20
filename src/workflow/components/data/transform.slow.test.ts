import { afterAll, describe, expect, test } from 'vitest';
import { createContext } from '../testing.ts';
import { createTransform } from './transform.ts';
import { Transformer } from './transformer.ts';

const transformer = new Transformer();
const transform = createTransform(transformer);

afterAll(() => transformer[Symbol.asyncDispose]());

async function evaluate(expression: string, input: unknown = {}, timeout?: number) {
  const data = { expression, input, ...(timeout !== undefined && { timeout }) };
  const outcome = await transform.run(data, createContext());
  return (outcome.output as { result: unknown }).result;
}

describe('A Transform', () => {
  test('reshapes its input', async () => {
    const orders = [
      { price: 2, quantity: 3, name: 'pen' },
      { price: 5, quantity: 1, name: 'cup' },
    ];
    const expression = '{ "total": $sum($.(price * quantity)), "names": [name] }';
    expect(await evaluate(expression, orders)).toEqual({ total: 11, names: ['pen', 'cup'] });
  });

  test('takes the outputs of the nodes before when it has no input', async () => {
    const context = createContext({ predecessors: { a: { n: 1 }, b: { n: 2 } } });
    const outcome = await transform.run({ expression: 'a.n + b.n' }, context);
    expect(outcome).toMatchObject({ kind: 'done', output: { result: 3 } });
  });

  test('gives null where nothing matches, and for a function', async () => {
    expect(await evaluate('nothing.here')).toBeNull();
    expect(await evaluate('function($x) { $x }')).toBeNull();
  });

  test('says what is wrong with an expression when a flow is saved', () => {
    expect(transform.check?.({ expression: '$sum(' })).toMatchObject([{ path: '/expression' }]);
    expect(transform.check?.({ expression: '$sum(a)' })).toEqual([]);
    expect(transform.check?.({ expression: 7 })).toEqual([]);
    expect(transform.check?.({ expression: '('.repeat(16_000) })).toHaveLength(1);
  });

  test('fails with the reason and the place when an expression cannot be evaluated', async () => {
    const failure = evaluate('1 + "a"');
    await expect(failure).rejects.toMatchObject({
      code: 'invalid',
      reason: 'transform_failed',
      detail: { position: expect.any(Number) },
    });
  });
});

describe('A number that JSON does not have', () => {
  test.each(['a / 0', '-a / 0', '(a - a) / 0', '{ "share": [a / 0] }'])(
    'fails: %s',
    async (expression) => {
      await expect(evaluate(expression, { a: 1 })).rejects.toMatchObject({
        code: 'invalid',
        reason: 'transform_failed',
        message: expect.stringMatching(/^Number out of range: (-?Infinity|NaN)$/),
      });
    },
  );
});

describe('An expression cannot leave its process:', () => {
  test.each([
    ['$.constructor.constructor("return process")()'],
    ['"".constructor.constructor("return process")()'],
    ['$sum.constructor("return process")()'],
    ['$sum.implementation.constructor("return process")()'],
    ['(function(){1}).environment'],
    ['$eval("1 + 1")'],
    ['($f := $eval; $f("1 + 1"))'],
    ['process.exit(1)'],
    ['$process'],
    ['$require("fs")'],
    ['globalThis.process'],
    ['$lookup($sum, "constructor")'],
    ['$__proto__'],
    ['$.__proto__.polluted'],
    ['$lookup({}, "__proto__")'],
  ])('%s', async (expression) => {
    const result = await evaluate(expression, { a: 1 }).catch((error: unknown) => {
      expect(error).toMatchObject({ code: 'invalid', reason: 'transform_failed' });
      return null;
    });
    expect(result ?? {}).toEqual({});
  });

  test('what one writes into prototypes is not there for the next', async () => {
    const attempts = [
      '{ "__proto__": { "polluted": 1 } }',
      '$ ~> |$.__proto__|{"polluted": 1}|',
      '$ ~> |$.constructor.prototype|{"polluted": 1}|',
      '$merge([{}, { "__proto__": { "polluted": 1 } }])',
      '$each({"a":1}, function($v) { $v.__proto__.polluted := 1 })',
    ];
    for (const attempt of attempts) await evaluate(attempt, { a: 1 }).catch(() => undefined);
    expect(await evaluate('polluted', {})).toBeNull();
    expect({}).not.toHaveProperty('polluted');
  });
});

describe('An expression is bounded:', () => {
  const quick = 200;
  const timeout = 'transform_timeout';
  const tooLarge = 'transform_too_large';
  const failed = 'transform_failed';

  test.each([
    ['a recursion without end', failed, '($f := function($x) { $f($x + 1) + 1 }; $f(0))'],
    ['a sequence beyond all bounds', failed, '[1..10000000]'],
    ['a text that doubles', tooLarge, '$reduce([1..60], function($s, $i) { $s & $s }, "ab")'],
  ])('%s', async (_what, reason, expression) => {
    const failure = evaluate(expression, {}, 5_000);
    await expect(failure).rejects.toMatchObject({ code: 'invalid', reason });
  });

  test.each([
    ['a tail recursion without end', '($f := function($x) { $f($x + 1) }; $f(0))'],
    ['lists that double', '$reduce([1..60], function($s, $i) { [[$s],[$s]] }, [1])'],
  ])('%s', async (_what, expression) => {
    const failure = evaluate(expression, {}, quick);
    await expect(failure).rejects.toMatchObject({ code: 'invalid', reason: timeout });
  });

  test('a regular expression that backtracks is killed, and the next expression works', async () => {
    const expression = '$match("aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa!", /^(a+)+$/)';
    await expect(evaluate(expression, {}, quick)).rejects.toMatchObject({
      code: 'invalid',
      reason: 'transform_timeout',
    });
    expect(await evaluate('1 + 1')).toBe(2);
  });

  test('one call that outgrows the memory ends the process that evaluates alone', async () => {
    const failure = evaluate('$split($pad("a", 30000000), "")', {}, 5_000);
    await expect(failure).rejects.toMatchObject({ code: 'invalid', reason: tooLarge });
    expect(await evaluate('1 + 1')).toBe(2);
  });

  test('a result beyond a megabyte is refused', async () => {
    const failure = evaluate('$map([1..90000], function($i) { "a long enough text" })', {}, 5_000);
    await expect(failure).rejects.toMatchObject({ reason: 'transform_too_large' });
  });

  test('an input beyond eight megabytes is refused', async () => {
    const failure = evaluate('1', 'a'.repeat(9 * 1024 * 1024));
    await expect(failure).rejects.toMatchObject({ reason: 'transform_too_large' });
  });
});

describe('Those who wait for their turn', () => {
  const slow = '($f := function($x) { $f($x + 1) }; $f(0))';
  const base = { input: {}, timeoutMs: 300, signal: new AbortController().signal };

  test('take turns by owner', async () => {
    const order: string[] = [];
    const ask = async (ownerId: string, name: string): Promise<void> => {
      await transformer.evaluate({ ...base, expression: '1', ownerId });
      order.push(name);
    };
    await Promise.all([ask('a', 'a1'), ask('a', 'a2'), ask('a', 'a3'), ask('b', 'b1')]);
    expect(order.indexOf('b1')).toBeLessThan(order.indexOf('a3'));
  });

  test('are left alone when they are cancelled', async () => {
    const stop = new AbortController();
    const first = transformer.evaluate({ ...base, expression: slow, ownerId: 'a' });
    const task = { ...base, expression: '1', ownerId: 'a', signal: stop.signal };
    const second = transformer.evaluate(task);
    stop.abort();
    await expect(second).rejects.toMatchObject({ code: 'cancelled' });
    await expect(transformer.evaluate(task)).rejects.toMatchObject({ code: 'cancelled' });
    await expect(first).rejects.toMatchObject({ reason: 'transform_timeout' });
  });

  test('are asked to come again when they are too many', async () => {
    const task = { ...base, expression: '1', ownerId: 'a' };
    const answers = await Promise.allSettled(
      Array.from({ length: 300 }, () => {
        const { signal } = new AbortController();
        return transformer.evaluate({ ...task, signal });
      }),
    );
    const refusals = answers.filter(({ status }) => status === 'rejected');
    expect(refusals.length).toBeGreaterThan(0);
    expect(refusals[0]).toMatchObject({ reason: { code: 'exhausted' } });
  });

  test('are refused when it is closed, and so is who comes later', async () => {
    const closing = new Transformer();
    const task = { ...base, expression: slow, ownerId: 'a' };
    const waiting = [closing.evaluate(task), closing.evaluate(task)];
    const answers = Promise.allSettled(waiting);
    await closing[Symbol.asyncDispose]();
    expect(await answers).toMatchObject([
      { status: 'rejected', reason: { code: 'unavailable' } },
      { status: 'rejected', reason: { code: 'unavailable' } },
    ]);
    await expect(closing.evaluate(task)).rejects.toMatchObject({ code: 'unavailable' });
  });
});
