import { expect, test } from 'vitest';
import { fromEdited, lineEndOf, textOfBytes, toEdited } from './text-form.ts';

test('gives a text of any one line end back as it was', () => {
  for (const text of ['a\nb\n', 'a\r\nb\r\n', 'a']) {
    expect(fromEdited(toEdited(text), lineEndOf(text))).toBe(text);
  }
});

test('says when lines end in several ways', () => {
  expect(lineEndOf('a\r\nb\n')).toBe('mixed');
  expect(lineEndOf('a\rb\r\n')).toBe('mixed');
});

test('takes bytes for text when they are UTF-8 without zeros', () => {
  expect(textOfBytes(new TextEncoder().encode('\uFEFFschön'))).toBe('\uFEFFschön');
  expect(textOfBytes(new Uint8Array([0x89, 0x50, 0x4e, 0x47]))).toBeUndefined();
  expect(textOfBytes(new Uint8Array([0x61, 0x00, 0x62]))).toBeUndefined();
});
