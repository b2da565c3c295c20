import {
  createCipheriv,
  createDecipheriv,
  createHmac,
  hkdfSync,
  randomBytes,
  timingSafeEqual,
} from 'node:crypto';
import { mkdir, readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Fault } from '../errors.ts';
import { writeSecretFile } from './secret-file.ts';

/** Encrypts what must not be readable in the database alone, under key files that stay outside it. */
export interface Sealer {
  /** Seals under the newest key file; the context must be given again to open it. */
  seal(plain: Uint8Array, context: string): string;
  /** Throws `conflict`, with a sentence for the operator, when the key file is missing or another. */
  unseal(sealed: string, context: string): Buffer;
  /**
   * A mark that only who has the key file can make: HMAC-SHA256 under a key that is derived from the
   * newest one for this purpose alone (RFC 5869).
   */
  mark(message: string, purpose: string): string;
  /** Whether a text is the mark of the message; a mark of a missing key file is none. */
  isMark(text: string, message: string, purpose: string): boolean;
  /**
   * 32 bytes for each key file, by its name, that nobody without the file can derive; no two purposes
   * share them (RFC 5869).
   */
  deriveKeys(purpose: string): ReadonlyMap<string, Buffer>;
}

export interface SealerOptions {
  /** Holds `key-1`, `key-2`, …: 32 random bytes each. */
  readonly folder: string;
  /** Make the first key file when there is none; never allowed while something is sealed already. */
  readonly mayCreate: boolean;
}

const keyBytes = 32;
const ivBytes = 12;
const tagBytes = 16;
const firstVersion = 1;

/** Opens the key files of a folder; refuses with `conflict` when there is none and none may be made. */
export async function openSealer(options: SealerOptions): Promise<Sealer> {
  const keys = await readKeyFiles(options.folder);
  if (keys.size === 0) keys.set(firstVersion, await createKeyFile(options));
  const newest = Math.max(...keys.keys());
  const keyOf = (version: number) => {
    const key = keys.get(version);
    if (!key) throw keyFault(`the key file ${join(options.folder, nameOf(version))} is missing`);
    return key;
  };
  return {
    seal: (plain, context) => {
      const name = nameOf(newest);
      const box = encrypt(keyOf(newest), plain, `${name} ${context}`);
      return `${name}.${box.toString('base64url')}`;
    },
    unseal: (sealed, context) => {
      const [name = '', box = ''] = sealed.split('.');
      const key = keyOf(versionOf(name));
      try {
        return decrypt(key, Buffer.from(box, 'base64url'), `${name} ${context}`);
      } catch (cause) {
        const path = join(options.folder, name);
        throw keyFault(
          `the key file ${path} is not the one that the database was sealed with`,
          cause,
        );
      }
    },
    mark: (message, purpose) => markOf(keyOf(newest), { name: nameOf(newest), message, purpose }),
    isMark: (text, message, purpose) => {
      const [name = ''] = text.split('.');
      const key = keys.get(versionOf(name));
      if (!key) return false;
      const expected = Buffer.from(markOf(key, { name, message, purpose }));
      const given = Buffer.from(text);
      return given.length === expected.length && timingSafeEqual(given, expected);
    },
    deriveKeys: (purpose) =>
      new Map([...keys].map(([version, key]) => [nameOf(version), deriveKey(key, purpose)])),
  };
}

/** The name of the key file that a text was sealed under. */
export function keyFileOf(sealed: string): string {
  return sealed.split('.', 1)[0] ?? '';
}

/** AES-256-GCM with a random nonce in front and the tag behind; the context is authenticated. */
export function encrypt(key: Uint8Array, plain: Uint8Array, context: string): Buffer {
  const iv = randomBytes(ivBytes);
  const cipher = createCipheriv('aes-256-gcm', key, iv).setAAD(Buffer.from(context));
  return Buffer.concat([iv, cipher.update(plain), cipher.final(), cipher.getAuthTag()]);
}

/** The plain bytes of `encrypt`; throws when key, context or any bit differs. */
export function decrypt(key: Uint8Array, box: Buffer, context: string): Buffer {
  const decipher = createDecipheriv('aes-256-gcm', key, box.subarray(0, ivBytes), {
    authTagLength: tagBytes,
  });
  decipher.setAAD(Buffer.from(context)).setAuthTag(box.subarray(-tagBytes));
  return Buffer.concat([decipher.update(box.subarray(ivBytes, -tagBytes)), decipher.final()]);
}

function markOf(
  key: Uint8Array,
  { name, message, purpose }: Readonly<Record<'name' | 'message' | 'purpose', string>>,
): string {
  const derived = deriveKey(key, purpose);
  return `${name}.${createHmac('sha256', derived).update(message).digest('base64url')}`;
}

function deriveKey(key: Uint8Array, purpose: string): Buffer {
  return Buffer.from(hkdfSync('sha256', key, '', purpose, keyBytes));
}

async function readKeyFiles(folder: string): Promise<Map<number, Buffer>> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const names = (await readdir(folder)).filter((name) => versionOf(name) > 0);
  const keys = await Promise.all(names.map((name) => readKeyFile(join(folder, name))));
  return new Map(keys.map((key, at) => [versionOf(names[at] ?? ''), key]));
}

async function readKeyFile(path: string): Promise<Buffer> {
  const key = await readFile(path);
  if (key.length !== keyBytes)
    throw keyFault(`the key file ${path} does not hold ${keyBytes} bytes`);
  return key;
}

async function createKeyFile({ folder, mayCreate }: SealerOptions): Promise<Buffer> {
  const path = join(folder, nameOf(firstVersion));
  if (!mayCreate) throw keyFault(`the key file ${path} is missing`);
  const key = randomBytes(keyBytes);
  await writeSecretFile(path, key);
  return key;
}

function nameOf(version: number): string {
  return `key-${version}`;
}

/** 0 for what is no key file's name. */
function versionOf(name: string): number {
  return Number(/^key-([1-9]\d{0,5})$/.exec(name)?.[1] ?? 0);
}

function keyFault(what: string, cause?: unknown): Fault {
  return new Fault('conflict', `${what}: put back the one that belongs to this database`, {
    reason: 'bad_key_file',
    cause,
  });
}
