import { statSync } from 'node:fs';
import { mkdir, readdir, rm } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { Fault } from '../../kit/errors.ts';
import type { Log } from '../../kit/log.ts';
import { inBoxEmbedderName } from '../embedding/static-embedder.ts';
import { addFile, installFiles, modelExists, type AddOptions, type Origin } from './adding.ts';
import { Digests } from './digests.ts';
import { chooseFiles, isReserved, type Stray } from './folder-files.ts';
import { HeaderCache } from './gguf/header-cache.ts';
import {
  compareModels,
  describeFile,
  isReplaceable,
  wasPulledTo,
  type InstalledModel,
} from './installed-model.ts';
import { ManifestCache, manifestPath } from './manifest.ts';
import { fileNameOf, findNamed, isSameName, nameOfFile, parseModelName } from './model-name.ts';
import { findPulled } from './pulled-name.ts';
import { pathsOfParts, splitPath } from './split-files.ts';

export type { InstalledModel } from './installed-model.ts';

export interface LibraryOptions {
  /** Where models are put; made when it is missing. */
  readonly folder: string;
  /** Read-only folder of the models that come with Ennead. */
  readonly builtInFolder?: string;
  /** The model for callers that name none; the first of the list when absent. */
  readonly defaultName?: string | undefined;
  readonly log: Log;
}

/** What was found in the folders. */
interface Finding {
  /** When the folders last changed, by their own account. */
  readonly stamp: string;
  readonly readAt: number;
  /** In the order in which they are listed. */
  readonly models: readonly InstalledModel[];
}

/** A folder does not tell when a file in it was written over, only when one came or went. */
const findingMsMax = 1000;

/** The GGUF files of a folder; one that is put there is seen at once. */
export class ModelLibrary implements AsyncDisposable {
  readonly folder: string;
  readonly #options: LibraryOptions;
  readonly #headers = new HeaderCache();
  readonly #manifests = new ManifestCache();
  readonly #digests: Digests;
  #finding: Finding | undefined;

  constructor(options: LibraryOptions) {
    this.folder = options.folder;
    this.#options = options;
    this.#digests = new Digests(options.folder, options.log);
  }

  /** Makes the folder. */
  async prepare(): Promise<void> {
    await mkdir(this.folder, { recursive: true, mode: 0o700 });
  }

  /** All installed models: the default first, then trained ones, then those that came with Ennead. */
  async list(): Promise<InstalledModel[]> {
    const models = await this.#find();
    for (const model of models) if (model.digest === undefined) this.#digests.want(model);
    return [...models];
  }

  /** What the operator chose for callers that name none; it may be missing. */
  get defaultName(): string | undefined {
    return this.#options.defaultName;
  }

  /**
   * The model of that name, or of what it was pulled by, or the default when no name is given;
   * throws `not_found`.
   */
  async find(name: string | undefined): Promise<InstalledModel> {
    const models = await this.list();
    const wanted = name ?? this.#options.defaultName;
    const found =
      wanted === undefined
        ? models.find(({ capabilities }) => capabilities.includes('completion'))
        : (findNamed(models, wanted) ?? findPulled(models, wanted));
    if (found) return found;
    throw new Fault('not_found', `there is no model ${wanted ?? ''}`.trim(), {
      reason: 'model_not_found',
      detail: { param: 'model', installed: models.map((model) => model.name) },
    });
  }

  /** The SHA-256 of a model in hex; read from its file where it is not known yet. */
  digestOf(model: InstalledModel): Promise<string> {
    return this.#digests.of(model);
  }

  /** Where the files of a new model of this name will stand; Fault `invalid` for what is no name. */
  placesOf(name: string, fileCount: number): readonly string[] {
    return splitPath(this.#pathOf(name), fileCount);
  }

  /**
   * Fault `conflict` (`model_built_in`) for a name of what comes with Ennead: a file of that name
   * would hide it.
   */
  async requireFree(name: string): Promise<void> {
    const { builtInFolder } = this.#options;
    const files = builtInFolder === undefined ? [] : await readdir(builtInFolder);
    const wanted = name.trim();
    const taken = files.map(nameOfFile).find((one) => one && isSameName(one, wanted));
    const owner = isReserved(wanted, inBoxEmbedderName) ? inBoxEmbedderName : taken;
    if (owner === undefined) return;
    throw new Fault('conflict', `${owner} is the name of what comes with Ennead: take another`, {
      reason: 'model_built_in',
      detail: { param: 'model' },
    });
  }

  /** The GGUF files of the folder that are not listed, and why. */
  async strays(): Promise<readonly Stray[]> {
    return (await this.#choose(this.folder)).strays;
  }

  /** Deletes a model; `conflict` for one that came with Ennead, `not_found` for none. */
  async delete(name: string): Promise<InstalledModel> {
    if (isSameName(name, inBoxEmbedderName)) throw builtInFault(inBoxEmbedderName);
    const model = await this.find(name);
    if (model.isBuiltIn) throw builtInFault(model.name);
    await removeFiles(model);
    return model;
  }

  /**
   * The model of this name that a pull would take the place of; Fault `conflict` when it is one that
   * was not pulled: nobody asked to lose it.
   */
  async findReplaceable(name: string): Promise<InstalledModel | undefined> {
    const present = findNamed(await this.#readFolders(), name);
    if (!present || present.isBuiltIn) return undefined;
    if (await isReplaceable(present)) return present;
    const message = `there is another model ${present.name}, which is not as a pull left it; delete it first`;
    throw new Fault('conflict', message, { reason: 'model_exists' });
  }

  /**
   * Puts the complete files of a model, which are on the same file system, into their places and
   * takes the model of that name out which was pulled before; `invalid` when they are no model,
   * `conflict` as of `findReplaceable`.
   */
  async install(files: readonly string[], origin: Origin): Promise<InstalledModel> {
    const before = await this.findReplaceable(origin.name);
    const [first = ''] = this.placesOf(origin.name, files.length);
    const isReplacing = before?.path === first || (await wasPulledTo(first));
    await installFiles(files, { path: this.#pathOf(origin.name), isReplacing }, origin);
    if (before && before.path !== first) await removeFiles(before);
    return this.find(origin.name);
  }

  /**
   * Takes in a model of this machine, by any of its files; `conflict` when there is one of that name,
   * or one of ours.
   */
  async add(path: string, options: AddOptions = {}): Promise<InstalledModel> {
    await mkdir(this.folder, { recursive: true, mode: 0o700 });
    const [file = path] = pathsOfParts(path);
    const wanted = options.name ?? nameOfFile(basename(file));
    if (wanted === undefined) {
      throw new Fault('invalid', `${file} does not end in .gguf: say what it shall be called`);
    }
    await this.requireFree(wanted);
    const present = findNamed(await this.#readFolders(), wanted.trim());
    if (present) throw modelExists(present.name);
    return this.find(await addFile(file, this.folder, options));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#digests[Symbol.asyncDispose]();
  }

  #pathOf(name: string): string {
    return join(this.folder, fileNameOf(parseModelName(name)));
  }

  /** Reads the folders where they may have changed: requests ask for their model one by one. */
  async #find(): Promise<readonly InstalledModel[]> {
    const stamp = this.#stamp();
    const readAt = performance.now();
    const known = this.#finding;
    if (known?.stamp === stamp && readAt - known.readAt < findingMsMax) return known.models;
    const models = this.#arrange(await this.#readFolders());
    this.#finding = { stamp, readAt, models };
    const paths = new Set(models.map(({ path }) => path));
    this.#headers.keepOnly(paths);
    this.#manifests.keepOnly(paths);
    return models;
  }

  #arrange(models: readonly InstalledModel[]): readonly InstalledModel[] {
    const { defaultName } = this.#options;
    const isFirst = ({ name }: InstalledModel) =>
      defaultName !== undefined && isSameName(name, defaultName);
    return models.toSorted(
      (a, b) => Number(isFirst(b)) - Number(isFirst(a)) || compareModels(a, b),
    );
  }

  /** At once: every request asks, and its first text waits for it. */
  #stamp(): string {
    const { builtInFolder } = this.#options;
    const folders = builtInFolder === undefined ? [this.folder] : [this.folder, builtInFolder];
    return folders.map(changedAt).join(' ');
  }

  /** A model of the folder hides the one of the same name that came with Ennead. */
  async #readFolders(): Promise<InstalledModel[]> {
    const { builtInFolder } = this.#options;
    const own = await this.#read(this.folder);
    if (builtInFolder === undefined) return own;
    const builtIn = await this.#read(builtInFolder);
    const isHidden = ({ name }: InstalledModel) => findNamed(own, name) !== undefined;
    return [...own, ...builtIn.filter((model) => !isHidden(model))];
  }

  async #choose(folder: string): Promise<ReturnType<typeof chooseFiles>> {
    return chooseFiles(await readdir(folder).catch(noneWhenMissing), inBoxEmbedderName);
  }

  async #read(folder: string): Promise<InstalledModel[]> {
    const isBuiltIn = folder === this.#options.builtInFolder;
    const { files } = await this.#choose(folder);
    const options = { headers: this.#headers, manifests: this.#manifests, isBuiltIn };
    const models = await Promise.all(
      files.map((file) => describeFile(join(folder, file), options)),
    );
    return models.flatMap((model) =>
      model ? [{ ...model, digest: this.#digests.find(model) }] : [],
    );
  }
}

function builtInFault(name: string): Fault {
  return new Fault('conflict', `${name} is built in and cannot be deleted`, {
    reason: 'model_built_in',
  });
}

/** In nanoseconds; empty where there is no such folder, or none that can be read. */
function changedAt(folder: string): string {
  try {
    return String(statSync(folder, { bigint: true }).mtimeNs);
  } catch {
    return '';
  }
}

async function removeFiles({ path }: InstalledModel): Promise<void> {
  for (const one of [...pathsOfParts(path), manifestPath(path)]) await rm(one, { force: true });
}

function noneWhenMissing(error: NodeJS.ErrnoException): string[] {
  if (error.code === 'ENOENT') return [];
  throw error;
}
