import { mkdir, readdir, stat } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { Fault } from '../kit/errors.ts';
import { randomModelFile, writeRandomModel } from './random-gguf.ts';

/** An installed model. */
export interface InstalledModel {
  /** The file's name without `.gguf`. */
  readonly name: string;
  readonly path: string;
  readonly bytes: number;
  readonly modifiedAt: Date;
}

const extension = '.gguf';

/** The GGUF files of a folder. It is read anew each time, so a file put there is seen at once. */
export class ModelLibrary {
  readonly #folder: string;

  constructor(folder: string) {
    this.#folder = folder;
  }

  /** Makes sure that there is a model: with none, the one of random weights is written. */
  async prepare(): Promise<void> {
    await mkdir(this.#folder, { recursive: true, mode: 0o700 });
    const models = await this.list();
    if (models.length === 0) await writeRandomModel(join(this.#folder, randomModelFile));
  }

  /** All installed models, those of trained weights first, then by name. */
  async list(): Promise<InstalledModel[]> {
    const files = await readdir(this.#folder);
    const models = files.filter((file) => file.endsWith(extension));
    const installed = await Promise.all(models.map((file) => this.#describe(file)));
    return installed.toSorted((a, b) => rank(a) - rank(b) || a.name.localeCompare(b.name));
  }

  /** The model of that name, or the first of the list when no name is given; throws `not_found`. */
  async find(name: string | undefined): Promise<InstalledModel> {
    const models = await this.list();
    const found = name === undefined ? models[0] : models.find((model) => model.name === name);
    if (found) return found;
    throw new Fault('not_found', `there is no model ${name ?? ''}`.trim(), {
      reason: 'model_not_found',
      detail: { param: 'model', installed: models.map((model) => model.name) },
    });
  }

  async #describe(file: string): Promise<InstalledModel> {
    const path = join(this.#folder, file);
    const { size, mtime } = await stat(path);
    return { name: file.slice(0, -extension.length), path, bytes: size, modifiedAt: mtime };
  }
}

function rank(model: InstalledModel): number {
  return basename(model.path) === randomModelFile ? 1 : 0;
}
