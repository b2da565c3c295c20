import { createHash, randomInt } from 'node:crypto';

const count = 10;
// Without letters and digits that look alike.
const alphabet = 'abcdefghijkmnpqrstuvwxyz23456789';
const groups = 4;
const groupLength = 4;

/** Ten codes of 80 random bits each, for when the device is lost. */
export function newRecoveryCodes(): string[] {
  return Array.from({ length: count }, () => Array.from({ length: groups }, randomGroup).join('-'));
}

/** What the database keeps of a code; blanks, dashes and case of what was typed mean nothing. */
export function hashRecoveryCode(code: string): Buffer {
  const plain = code.toLowerCase().replaceAll(/[\s-]/g, '');
  return createHash('sha256').update(plain).digest();
}

function randomGroup(): string {
  const letters = Array.from({ length: groupLength }, () => alphabet[randomInt(alphabet.length)]);
  return letters.join('');
}
