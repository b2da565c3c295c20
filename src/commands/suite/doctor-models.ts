import { join, resolve } from 'node:path';
import type { ConfigOf } from '../../kit/config.ts';
import { Fault } from '../../kit/errors.ts';
import { createLog } from '../../kit/log.ts';
import type { modelsSettings } from '../../models/config.ts';
import { modelsContract } from '../../models/contract.ts';
import { readGgufHeader } from '../../models/library/gguf/gguf-header.ts';
import { findFlaw } from '../../models/library/gguf/soundness.ts';
import type { ExternalRuntime } from '../../models/inference/external/external-runtime.ts';
import { openRuntimes } from '../../models/inference/external/open-runtimes.ts';
import { builtInFolder } from '../../models/library/built-in.ts';
import { recommendFor } from '../../models/library/catalogue.ts';
import { ModelLibrary, type InstalledModel } from '../../models/library/library.ts';
import { defaultBudgetBytes } from '../../models/runtime/memory.ts';
import type { Configuration } from '../../settings.ts';
import { bad, good, warning, type Finding } from './finding.ts';
import { formatBytes } from '../output.ts';

const timeoutMs = 3_000;

/** What models there are, which one would suit this machine, and whether external runtimes answer. */
export async function checkModels(config: Configuration): Promise<Finding[]> {
  const folder = join(resolve(config.suite.dataFolder), 'models');
  const log = createLog({ level: 'silent', isPretty: false });
  await using library = new ModelLibrary({ folder, builtInFolder, log });
  // Each service's settings are read by its own schema.
  const own = config.ownOf(modelsContract.name) as ConfigOf<typeof modelsSettings>;
  const budgetBytes = own.memoryMb === undefined ? defaultBudgetBytes() : own.memoryMb * 2 ** 20;
  return [...(await checkLibrary(library, budgetBytes)), ...(await checkRuntimes(own))];
}

async function checkLibrary(library: ModelLibrary, budgetBytes: number): Promise<Finding[]> {
  try {
    const models = await library.list();
    return [
      ...(await describeInstalled(models, library.folder)),
      ...(await unlisted(library)),
      ...recommend(models, budgetBytes),
    ];
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === undefined) throw error;
    return [bad(`the folder of models ${library.folder} cannot be read (${code})`)];
  }
}

async function describeInstalled(
  models: readonly InstalledModel[],
  folder: string,
): Promise<Finding[]> {
  const flaws = await Promise.all(models.map(flawOf));
  const names = models.filter((_, index) => flaws[index] === undefined).map(({ name }) => name);
  const unusable = models.flatMap(({ path }, index) => {
    const flaw = flaws[index];
    if (flaw === undefined) return [];
    return [warning(`${path} ${flaw}: delete it or fetch it again`, { path, flaw })];
  });
  if (names.length === 0)
    return [warning(`no usable model in ${folder}`, { models: [] }), ...unusable];
  const text = `models: ${names.join(', ')} (by what their headers say: none was loaded)`;
  return [good(text, { models: names }), ...unusable];
}

async function flawOf({ header, path }: InstalledModel): Promise<string | undefined> {
  if (header) return findFlaw(header);
  try {
    await readGgufHeader(path);
    return undefined;
  } catch (error) {
    // One that went away, or whose disk fails, says so itself.
    return error instanceof Fault ? error.message.replace(/^the file /, '') : 'cannot be read';
  }
}

async function unlisted(library: ModelLibrary): Promise<Finding[]> {
  const strays = await library.strays();
  return strays.map(({ file, reason }) =>
    warning(`${join(library.folder, file)} is not listed: ${reason}; rename or delete it`, {
      path: join(library.folder, file),
      flaw: reason,
    }),
  );
}

/** Only while there is nothing but what came with Ennead. */
function recommend(models: readonly InstalledModel[], budgetBytes: number): Finding[] {
  const isServed = models.some(
    ({ isBuiltIn, capabilities }) => !isBuiltIn && capabilities.includes('completion'),
  );
  const entry = recommendFor(budgetBytes);
  if (isServed || !entry) return [];
  const { name, title, bytes, licence } = entry;
  const text =
    `for ${formatBytes(budgetBytes)} that models may take: ennead models pull ${name} ` +
    `(${title}, ${formatBytes(bytes)}, ${licence})`;
  return [good(text, { recommended: name, bytes, licence, budgetBytes })];
}

async function checkRuntimes(config: ConfigOf<typeof modelsSettings>): Promise<Finding[]> {
  await using external = openRuntimes(config);
  // Awaited here: what is returned as a promise outlives the runtimes it asks.
  return await Promise.all(external.runtimes.map(checkRuntime));
}

async function checkRuntime(runtime: ExternalRuntime): Promise<Finding> {
  try {
    const models = await runtime.list(AbortSignal.timeout(timeoutMs));
    const facts = { runtime: runtime.name, modelCount: models.length };
    return good(`${runtime.name} answers and has ${models.length} models`, facts);
  } catch (error) {
    const text = `the models of ${runtime.name} are left out: ${(error as Error).message}`;
    return warning(text, { runtime: runtime.name });
  }
}
