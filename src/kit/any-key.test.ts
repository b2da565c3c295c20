import { Type } from 'typebox';
import { expect, it } from 'vitest';
import { AnyKey } from './any-key.ts';
import { writerOf } from './http/serializer.ts';
import { validatorOf } from './http/validation.ts';

const Counts = Type.Record(AnyKey, Type.Integer());

it.each(['plain', '', 'two\nlines', 'two\u2028lines', '\r'])(
  'checks and sends the key %j',
  (key) => {
    const given = { [key]: 1 };
    expect(validatorOf(Counts, 'body')(given)).toEqual({ value: given });
    expect(validatorOf(Counts, 'body')({ [key]: 'x' })).toHaveProperty('error');
    expect(JSON.parse(writerOf(Counts)(given))).toEqual(given);
  },
);
