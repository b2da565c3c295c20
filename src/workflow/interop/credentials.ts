import {
  changeWithin,
  filledIn,
  formValue,
  jsonString,
  jsonToken,
  nestedTextsMax,
} from './text-parts.ts';

/** Whether a setting of that name is a secret as a rule. */
export function isSecretName(name: string): boolean {
  return secretName.test(name);
}

/** Whether a parameter of an address is one: what is called `key` or `sig` there is, elsewhere it is not. */
export function isSecretParameter(name: string): boolean {
  return secretName.test(name) || secretParameter.test(name);
}

/**
 * A text whose addresses have lost their credentials: the user and password before the host, and the
 * values of parameters, those behind `#` too, whose names say that they are secret; within strings of
 * JSON and values of parameters too. What placeholders fill in stays. Takes time in proportion to the
 * text.
 */
export function withoutCredentials(text: string): string {
  return bareAddresses(text, 0);
}

/** Whether a text holds more than placeholders: n8n's and ours, jq's, and names of RFC 6570. */
export function isLiteral(text: string): boolean {
  return text.replaceAll(placeholder, '') !== '';
}

const secretName =
  /pass(word|wd|phrase)?$|pwd$|secret|token$|api[-_]?key|credential|authorization|private[-_]?key|bearer|cookie|(access|account|app|auth|client|shared|subscription)[-_]?key$/i;
const secretParameter = /^(key|sig|auth)$|signature$/i;

// The bounds keep the search from beginning anew at every character of a text that never ends, and no
// two ways lead through the same characters.
const anyPlaceholder = String.raw`${filledIn}|\{[A-Za-z_][\w.]{0,200}\}`;
const placeholder = new RegExp(anyPlaceholder, 'g');
/** What can be one address: no spaces or quotes but within placeholders. */
const run = new RegExp(`(?:${anyPlaceholder}|[^\\s"'<>\`])+`, 'g');
const userInfo =
  /(?<![A-Za-z0-9+.-])([A-Za-z][A-Za-z0-9+.-]{0,30}:\/\/)((?:\$?\{\{[^{}]{0,1000}\}\}|\$?\{[^{}]{0,1000}\}|[^/?#{}$]|\$(?!\{)){1,1000})@/g;
const parameter = /([?&;#][^=&?;#{}]{1,100})=((?:\$?\{\{?[^{}%][^{}]{0,1000}\}|[^&;#{]|\{(?!%))*)/g;

/** A string of JSON with escapes is read and written anew; no address leads out of one. */
function bareAddresses(text: string, depth: number): string {
  if (depth > nestedTextsMax) return '…';
  const bareWithin = (held: string) => bareAddresses(held, depth + 1);
  const bareRuns = (part: string) => part.replaceAll(run, (address) => bared(address, bareWithin));
  let written = '';
  let end = 0;
  for (const { 0: found, index, groups } of text.matchAll(jsonToken)) {
    const { held } = groups ?? {};
    if (!held?.includes('\\')) continue;
    written += bareRuns(text.slice(end, index));
    const kept = changeWithin(held, jsonString, bareWithin);
    written += kept === held ? found : `"${kept}"`;
    end = index + found.length;
  }
  return written + bareRuns(text.slice(end));
}

function bared(address: string, bareWithin: (text: string) => string): string {
  return address
    .replaceAll(userInfo, (whole, scheme: string, user: string) => {
      const password = user.slice(user.indexOf(':') + 1);
      return isLiteral(password) ? scheme : whole;
    })
    .replaceAll(parameter, (whole, head: string, value: string) => {
      if (isSecretParameter(head.slice(1))) return isLiteral(value) ? `${head}=` : whole;
      return value.includes('%') ? `${head}=${changeWithin(value, formValue, bareWithin)}` : whole;
    });
}
