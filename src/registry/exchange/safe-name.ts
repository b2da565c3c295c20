import { createHash } from 'node:crypto';

const lengthMax = 64;
const digestLength = 8;

/**
 * A name that a connection may have, made of any text: what may not stand in one becomes `-`. What is
 * too long is cut and ends in a digest of the whole, so that two long names stay two. Undefined when
 * the text holds no letter or digit.
 */
export function toSafeName(text: string): string | undefined {
  const plain = text
    .normalize('NFKD')
    .replaceAll(/[^A-Za-z0-9_.-]+/g, '-')
    .replaceAll(/__+/g, '_')
    .replaceAll(/^[^A-Za-z0-9]+|[^A-Za-z0-9]+$/g, '');
  if (plain === '') return undefined;
  if (plain.length <= lengthMax) return plain;
  const digest = createHash('sha256').update(text).digest('hex').slice(0, digestLength);
  const head = plain.slice(0, lengthMax - digestLength - 1).replace(/[^A-Za-z0-9]+$/, '');
  return `${head}-${digest}`;
}

/** The same of a reverse-DNS name: dots and slash too, which tool names of some models cannot hold. */
export function toPlainName(text: string): string | undefined {
  return toSafeName(text.replaceAll(/[./]+/g, '-'));
}
