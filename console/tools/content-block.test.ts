import { expect, test } from 'vitest';
import { readBlock } from './content-block.ts';

test('texts are texts, also those of resources', () => {
  expect(readBlock({ type: 'text', text: 'hi' })).toEqual({ kind: 'text', text: 'hi' });
  expect(readBlock({ type: 'resource', resource: { uri: 'demo://1', text: 'hi' } })).toEqual({
    kind: 'text',
    text: 'hi',
  });
});

test('an image is drawn, and what only says that it is one is saved', () => {
  expect(readBlock({ type: 'image', mimeType: 'image/png', data: 'AAAA' })).toEqual({
    kind: 'image',
    url: 'data:image/png;base64,AAAA',
  });
  expect(readBlock({ type: 'image', mimeType: 'text/html', data: 'AAAA' })).toMatchObject({
    kind: 'file',
  });
});

test('bytes have the name that their address ends with', () => {
  const resource = { uri: 'file:///a/report.pdf', mimeType: 'application/pdf', blob: 'AAAA' };
  expect(readBlock({ type: 'resource', resource })).toEqual({
    kind: 'file',
    name: 'report.pdf',
    url: 'data:application/pdf;base64,AAAA',
  });
});

test('a type cannot end its data URL early', () => {
  const block = readBlock({ type: 'audio', mimeType: 'audio/x,<script>', data: 'AAAA' });
  expect(block).toMatchObject({ url: 'data:audio/xscript;base64,AAAA' });
});

test('what is not known is shown as it came', () => {
  for (const odd of [null, 'a', { type: 'image' }, { type: 'new' }]) {
    expect(readBlock(odd)).toEqual({ kind: 'other', value: odd });
  }
});
