import { Fault } from '../errors.ts';

/** The media type of HTML forms and of OAuth requests (RFC 6749, appendix B). */
export const formMediaType = 'application/x-www-form-urlencoded';

/**
 * Parses a form body into an object of texts. Refuses a name that comes twice (RFC 6749, section
 * 3.2), because readers differ in which one they take, and U+0000, as in JSON.
 */
export function parseFormBody(text: string): Readonly<Record<string, string>> {
  const fields = [...new URLSearchParams(text)];
  const names = new Set(fields.map(([name]) => name));
  if (names.size < fields.length) throw refusal('the body names a parameter twice');
  if (fields.some((field) => field.join('').includes('\0'))) {
    throw refusal('the body holds the character U+0000');
  }
  return Object.fromEntries(fields);
}

function refusal(message: string): Fault {
  return new Fault('invalid', message, { reason: 'invalid_request' });
}
