import { expect, test } from 'vitest';
import { commandLine } from './command-line.ts';

test('plain words stand as they are, all others in quotes', () => {
  expect(commandLine({ command: 'npx', args: ['-y', '@a/b@1.0'] })).toBe('npx -y @a/b@1.0');
  expect(commandLine({ command: 'sh', args: ['-c', "echo 'a b'", ''] })).toBe(
    String.raw`sh -c 'echo '\''a b'\''' ''`,
  );
});
