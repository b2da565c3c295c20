import { expect, test } from 'vitest';
import { readSnippet } from './snippet.ts';

test('a snippet is text with what matched apart', () => {
  expect(readSnippet('say <mark>hello</mark> &amp; &lt;b&gt; &#39;bye&#x27;')).toEqual([
    { text: 'say ', isMatch: false },
    { text: 'hello', isMatch: true },
    { text: " & <b> 'bye'", isMatch: false },
  ]);
});

test('what is no entity stays as it is', () => {
  expect(readSnippet('&nope; &#9999999;')).toEqual([{ text: '&nope; &#9999999;', isMatch: false }]);
  expect(readSnippet('')).toEqual([]);
});
