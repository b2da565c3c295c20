import { PassThrough, Writable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { expect, test } from 'vitest';
import { askUnseen } from './secret-input.ts';

/** A terminal that notes whether it was told not to show what is typed. */
function openTerminal() {
  const input = Object.assign(new PassThrough(), {
    isTTY: true,
    modes: [] as boolean[],
    setRawMode(isRaw: boolean) {
      this.modes.push(isRaw);
      return this;
    },
  });
  return { input, output: new PassThrough() };
}

test.each([
  ['ends the line', 'a secret\r', 'a secret'],
  ['corrects a letter', 'a secrex\u007Ft\r', 'a secret'],
])('what is typed by who %s is read and never shown', async (_, typed, secret) => {
  const { input, output } = openTerminal();
  const answer = askUnseen('password of admin', { input, output });
  for (const key of typed) input.write(key);
  expect(await answer).toBe(secret);
  output.end();
  expect(await text(output)).toBe('password of admin: \n');
  expect(input.modes).toEqual([true, false]);
});

test('the terminal stops showing what is typed before the question stands there', () => {
  const order: string[] = [];
  const { input } = openTerminal();
  Object.assign(input, {
    setRawMode(isRaw: boolean) {
      order.push(isRaw ? 'unseen' : 'seen');
      return this;
    },
  });
  const output = new Writable({
    write: (bytes: Buffer, _encoding, done) => {
      order.push(bytes.toString());
      done();
    },
  });
  const answer = askUnseen('password of admin', { input, output });
  expect(order).toEqual(['unseen', 'password of admin: ']);
  input.write('a secret\r');
  return answer;
});

test.each([
  ['the end of input', '\u0004'],
  ['an interrupt', '\u0003'],
])('%s in place of a secret gives up and sets the terminal back', async (_, key) => {
  const { input, output } = openTerminal();
  const answer = askUnseen('password of admin', { input, output });
  input.write(key);
  await expect(answer).rejects.toMatchObject({ code: 'cancelled' });
  expect(input.modes).toEqual([true, false]);
});

test('two secrets are asked for on one terminal, one after the other', async () => {
  const terminal = openTerminal();
  const first = askUnseen('the new password', terminal);
  terminal.input.write('one\r');
  expect(await first).toBe('one');
  const second = askUnseen('the new password again', terminal);
  terminal.input.write('two\r');
  expect(await second).toBe('two');
});
