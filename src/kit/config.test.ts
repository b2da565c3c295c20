import { Type } from 'typebox';
import { inspect } from 'node:util';
import { expect, test } from 'vitest';
import {
  describeSettings,
  readConfig,
  Secret,
  secretSetting,
  setting,
  settingOr,
  unknownVariables,
} from './config.ts';

const groups = {
  one: {
    port: settingOr('ENNEAD_PORT', { schema: Type.Integer({ minimum: 1 }), or: 7400 }, 'a port'),
    mode: settingOr('ENNEAD_MODE', { schema: Type.Enum(['on', 'off']), or: 'on' }, 'a mode'),
    url: setting('ENNEAD_URL', Type.String({ pattern: '^https?://' }), 'an address'),
  },
  two: { key: secretSetting('ENNEAD_KEY', 'a key') },
};

test('all faults are reported at once, each with its variable, and no secret among them', () => {
  const environment = {
    ENNEAD_PORT: 'abc',
    ENNEAD_MODE: 'maybe',
    ENNEAD_URL: 'ftp://x',
    ENNEAD_KEY: 's3cret',
  };
  const read = () => readConfig(groups, environment);
  expect(read).toThrow(/ENNEAD_PORT .*"abc"\nENNEAD_MODE .*"maybe"\nENNEAD_URL .*"ftp:\/\/x"$/);
});

test.each(['0', '-1', '1.5', '1e99', 'NaN', ' '])('the port %j is refused', (text) => {
  expect(() => readConfig(groups, { ENNEAD_PORT: text })).toThrow('ENNEAD_PORT');
});

test('numbers come as numbers', () => {
  expect(readConfig(groups, { ENNEAD_PORT: '8080' }).one.port).toBe(8080);
});

test('absent and empty variables give the defaults', () => {
  const { one, two } = readConfig(groups, { ENNEAD_PORT: '', ENNEAD_URL: '' });
  expect(one).toEqual({ port: 7400, mode: 'on', url: undefined });
  expect(two.key).toBeUndefined();
});

test('a secret shows itself only when it is asked to', () => {
  const { key } = readConfig(groups, { ENNEAD_KEY: 's3cret' }).two;
  expect(key).toBeInstanceOf(Secret);
  expect([String(key), JSON.stringify({ key }), inspect(key)].join()).not.toContain('s3cret');
  expect(key?.reveal()).toBe('s3cret');
});

test('a misspelt variable of ours is noticed, those of others are not', () => {
  const environment = { ENNEAD_PROT: '1', ENNEAD_PORT: '1', RATE_LIMIT_X_BURST: '1', HOME: '/' };
  expect(unknownVariables(groups, environment)).toEqual(['ENNEAD_PROT', 'RATE_LIMIT_X_BURST']);
});

test('the table of settings has a row for each with its default', () => {
  const table = describeSettings(groups);
  expect(table).toContain('| `ENNEAD_PORT` | `7400` | a port |');
  expect(table).toContain('| `ENNEAD_KEY` | none | a key (secret) |');
});
