import { expect, test } from 'vitest';
import { openSuccessor, sealSuccessor } from './successors.ts';

test('a successor is opened only with the token that it succeeds', () => {
  const sealed = sealSuccessor('token', 'successor');
  expect(sealed.includes('successor')).toBe(false);
  expect(openSuccessor('token', sealed)).toBe('successor');
  expect(() => openSuccessor('another', sealed)).toThrow();
});
