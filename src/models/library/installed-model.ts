import { basename } from 'node:path';
import type { ModelInfo } from '../inference/inference.ts';
import { capabilitiesOf } from './gguf/capabilities.ts';
import type { GgufHeader } from './gguf/gguf-header.ts';
import type { HeaderCache } from './gguf/header-cache.ts';
import { readManifest, type ManifestCache } from './manifest.ts';
import { statModelOrLink } from './model-files.ts';
import { nameOfFile } from './model-name.ts';

/** A model whose files are on this machine. */
export interface InstalledModel extends ModelInfo {
  /** Of its first file; most have only one. */
  readonly path: string;
  /** It came with Ennead and cannot be deleted. */
  readonly isBuiltIn: boolean;
  /** Undefined for a file that is no usable model: it is listed so that somebody sees it. */
  readonly header: GgufHeader | undefined;
  /** Where it was pulled or added from. */
  readonly source: string | undefined;
  readonly licence: string | undefined;
}

export interface DescribeOptions {
  readonly headers: HeaderCache;
  readonly manifests: ManifestCache;
  /** Whether the folder came with Ennead. */
  readonly isBuiltIn: boolean;
}

/**
 * Describes the model that begins in a file; undefined when none does, or the file has gone in the
 * meantime.
 */
export async function describeFile(
  path: string,
  { headers, manifests, isBuiltIn }: DescribeOptions,
): Promise<InstalledModel | undefined> {
  const name = nameOfFile(basename(path));
  const state = await statModelOrLink(path).catch(() => undefined);
  if (name === undefined || !state?.isFile) return undefined;
  const { ino, size, mtimeMs, mtime } = state;
  const [header, manifest] = await Promise.all([
    headers.read({ path, ino, size, mtimeMs }),
    manifests.read(path, state),
  ]);
  return {
    ...infoOf(header),
    name,
    path,
    header,
    bytes: size,
    modifiedAt: mtime,
    digest: manifest?.digest,
    source: manifest?.source,
    licence: manifest?.licence ?? header?.licence,
    isBuiltIn,
  };
}

/**
 * Whether a pull may put another in its place: a pull left it as it is, or left a file here that is
 * no usable model since. A sound file that came to be otherwise is somebody's own.
 */
export async function isReplaceable({ path, header, source }: InstalledModel): Promise<boolean> {
  return header ? isAddress(source) : wasPulledTo(path);
}

/** Whether what stands at a path, or last stood there, was pulled. */
export async function wasPulledTo(path: string): Promise<boolean> {
  return isAddress((await readManifest(path))?.source);
}

function isAddress(source = ''): boolean {
  return /^https?:/.test(source);
}

/** Trained models of the folder first, then those that came with Ennead, then what cannot be used. */
export function compareModels(one: InstalledModel, other: InstalledModel): number {
  return rankOf(one) - rankOf(other) || one.name.localeCompare(other.name);
}

function infoOf(header: GgufHeader | undefined) {
  return {
    runtime: 'local',
    capabilities: header ? capabilitiesOf(header) : [],
    family: header?.architecture ?? '',
    quantization: header?.quantization ?? '',
    parameterCount: header?.parameterCount,
    contextTokens: header?.contextTokens,
    embeddingDimensions: header?.embeddingDimensions,
  };
}

function rankOf(model: InstalledModel): number {
  if (!model.header) return 2;
  return model.isBuiltIn ? 1 : 0;
}
