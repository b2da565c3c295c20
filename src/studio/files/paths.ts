import { Fault } from '../../kit/errors.ts';

const partBytesMax = 255;
const pathBytesMax = 4_096;
const depthMax = 64;
/** What the service keeps for itself in every folder. */
export const ownFolder = '.ennead';

const control = /\p{Cc}/u;
const loneSurrogate = /\p{Surrogate}/u;
const reserved = /^(con|prn|aux|nul|conin\$|conout\$|com[0-9¹²³]|lpt[0-9¹²³])(\.|$)/i;
const refused = /[\\:*?"<>|]/;

/**
 * A path of a workspace as it is kept: relative, POSIX, NFC, and one that every system can have. Throws
 * `invalid` (`path_invalid`) otherwise. It is not decoded: whoever read it from an address has done so.
 */
export function toPath(text: string): string {
  const path = text.normalize('NFC');
  const flaw = flawOf(path);
  if (flaw === undefined) return path;
  throw new Fault('invalid', `this is no path of a workspace: ${flaw}`, { reason: 'path_invalid' });
}

/** Why a path cannot be one of a workspace; undefined when it can. */
export function flawOf(path: string): string | undefined {
  if (path === '') return 'it is empty';
  if (Buffer.byteLength(path) > pathBytesMax) return `it is longer than ${pathBytesMax} bytes`;
  if (control.test(path) || loneSurrogate.test(path))
    return 'it holds a character that no name has';
  if (path.startsWith('/')) return 'it begins with a slash';
  if (refused.test(path)) return String.raw`it holds one of \ : * ? " < > |`;
  const parts = path.split('/');
  if (parts.length > depthMax) return `it is deeper than ${depthMax} folders`;
  if (parts[0]?.toLowerCase() === ownFolder) return `${ownFolder} belongs to the service`;
  for (const part of parts) {
    const flaw = flawOfPart(part);
    if (flaw !== undefined) return flaw;
  }
  return undefined;
}

function flawOfPart(part: string): string | undefined {
  if (part === '') return 'a part of it is empty';
  if (part === '.' || part === '..') return 'it holds `.` or `..`';
  if (Buffer.byteLength(part) > partBytesMax) return `a part is longer than ${partBytesMax} bytes`;
  if (part.endsWith(' ') || part.endsWith('.')) return 'a part ends with a space or a dot';
  if (reserved.test(part)) return 'a part is a name that Windows keeps for devices';
  return undefined;
}

/** Whether text has a form on the disk and in the log: none of its characters is half of one. */
export function isWellFormed(text: string): boolean {
  return !loneSurrogate.test(text);
}

/** The form in which two paths are the same where case does not count: `straße` and `STRASSE` are. */
export function foldPath(path: string): string {
  return path.toUpperCase().toLowerCase();
}

/** The folders above a path, the outermost first: `a/b/c` has `a` and `a/b`. */
export function foldersOf(path: string): string[] {
  const parts = path.split('/');
  return parts.slice(1).map((_, index) => parts.slice(0, index + 1).join('/'));
}

/** Where the loser of a conflict goes: `name.sync-conflict-<time>-<device>.ext` beside the path. */
export function conflictPath(path: string, deviceId: string, at: Date): string {
  const slash = path.lastIndexOf('/') + 1;
  const name = path.slice(slash);
  const dot = name.lastIndexOf('.');
  const [stem, extension] = dot > 0 ? [name.slice(0, dot), name.slice(dot)] : [name, ''];
  const [date = '', time = ''] = at.toISOString().split('T');
  const stamp = `${date.replaceAll('-', '')}-${time.slice(0, 8).replaceAll(':', '')}`;
  const device = deviceId.replaceAll(/[^A-Za-z0-9_-]/g, '-').slice(0, 32);
  const ending = cut(extension, 40).replace(/[ .]+$/, '');
  return `${path.slice(0, slash)}${cut(stem, 120)}.sync-conflict-${stamp}-${device}${ending}`;
}

/** The beginning of a text in at most so many bytes of whole characters. */
function cut(text: string, bytesMax: number): string {
  let bytes = 0;
  let end = 0;
  for (const character of text) {
    bytes += Buffer.byteLength(character);
    if (bytes > bytesMax) break;
    end += character.length;
  }
  return text.slice(0, end);
}
