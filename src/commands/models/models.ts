import { Command } from 'commander';
import { catalogue, recommendFor, type CatalogueEntry } from '../../models/library/catalogue.ts';
import { availableMemoryBytes } from '../../kit/memory.ts';
import { defaultBudgetBytes } from '../../models/runtime/memory.ts';
import { addCommand, show } from '../operator/administration.ts';
import type { AdministrationOptions } from '../operator/work.ts';
import type { ModelAccess } from './model-access.ts';
import type { ListedModel } from './model-listing.ts';
import { formatBytes, printFacts, printLine, printTable, type Column } from '../output.ts';

interface AddOptions {
  readonly json?: boolean;
  readonly name?: string;
  readonly reference?: boolean;
}

/** `ennead models …` */
export function modelsCommand(): Command {
  const group = new Command('models').description('models of the local runtime');
  addCommand(group, 'pull <name>', 'qwen3:0.6b')
    .description('fetch a model; a pull that was cut goes on where it was')
    .addHelpText('after', pullHelp)
    .action((name: string, options: AdministrationOptions) => work(options, pull(name, options)));
  addCommand(group, 'list', '--json')
    .description('list models; the first is the default')
    .action((options: AdministrationOptions) =>
      work(options, async (models) =>
        show(options, await models.list(), (rows) => printTable(rows, columns)),
      ),
    );
  addCommand(group, 'show <name>', 'qwen3:0.6b')
    .description('describe a model')
    .action((name: string, options: AdministrationOptions) =>
      work(options, async (models) => show(options, await models.show(name), printModel)),
    );
  addCommand(group, 'rm <name>', 'qwen3:0.6b')
    .description('delete a model')
    .action((name: string, options: AdministrationOptions) =>
      work(options, async (models) => {
        await models.delete(name);
        show(options, { deleted: name }, () => printLine(`deleted ${name}`));
      }),
    );
  group
    .command('add <path>')
    .description('take in a GGUF file of this machine: by a hard link where it can be, else a copy')
    .option('--name <name>', "the model's name; that of the file when absent")
    .option('--reference', 'only point to where the file stays')
    .option('--json', 'print the answer as JSON, for programs')
    .addHelpText('after', '\nExample:\n  ennead models add ~/Downloads/some-model.gguf')
    .action((path: string, options: AddOptions) => add(path, options));
  group
    .command('catalogue')
    .description('list models that are known to be good, and which one suits this machine')
    .option('--json', 'print the answer as JSON, for programs')
    .action((options: { readonly json?: boolean }) => show(options, catalogue, printCatalogue));
  return group.addHelpText('after', fileHelp);
}

const fileHelp = '  ennead models add ~/Downloads/some-model.gguf\n  ennead models catalogue';

const pullHelp =
  '\nA name is one of "ennead models catalogue", one of Ollama, hf.co/<owner>/<repository>[:<file or\n' +
  'quantisation>], or an https address that ends in .gguf. Without a running suite the model is\n' +
  'fetched into its data folder.';

type Work = (models: ModelAccess) => Promise<void>;

async function work(options: AdministrationOptions, task: Work): Promise<void> {
  const { openModels } = await import('./open-models.ts');
  await using models = await openModels(options);
  await task(models);
}

function pull(name: string, options: AdministrationOptions): Work {
  return async (models) => {
    const { PullDisplay } = await import('./pull-display.ts');
    const display = new PullDisplay();
    try {
      for await (const progress of models.pull(name)) display.show(progress);
    } finally {
      display.end();
    }
    show(options, { pulled: name }, () => printLine(`pulled ${name}`));
  };
}

async function add(path: string, options: AddOptions): Promise<void> {
  const { readModelPlace } = await import('./open-models.ts');
  const { openLibrary } = await import('./stopped-models.ts');
  const place = readModelPlace();
  if (place.isElsewhere) {
    const { Fault } = await import('../../kit/errors.ts');
    throw new Fault('invalid', `models runs at ${place.url}: add the file on that machine`);
  }
  await using library = openLibrary(place);
  const { name, reference: isReference = false } = options;
  const added = await library.add(path, { name, isReference });
  show(options, { added: added.name }, () => printLine(`added ${added.name}`));
}

function printModel(model: Awaited<ReturnType<ModelAccess['show']>>): void {
  const { bytes, capabilities, ...facts } = model;
  printFacts({ ...facts, size: formatBytes(bytes), capabilities: capabilities.join(', ') });
}

function printCatalogue(entries: readonly CatalogueEntry[]): void {
  printTable(entries, catalogueColumns);
  const best = recommendFor(defaultBudgetBytes());
  const memory = formatBytes(availableMemoryBytes());
  printLine('');
  if (best) printLine(`for this machine's ${memory} of memory: ennead models pull ${best.name}`);
  else printLine(`${memory} of memory are little for any of them`);
}

const columns: readonly Column<ListedModel>[] = [
  { title: 'NAME', of: ({ name }) => name },
  { title: 'SIZE', of: ({ bytes }) => formatBytes(bytes) },
  { title: 'FAMILY', of: ({ family }) => family },
  { title: 'PARAMETERS', of: ({ parameters }) => parameters },
  { title: 'QUANTISATION', of: ({ quantization }) => quantization },
  { title: 'MODIFIED', of: ({ modifiedAt }) => modifiedAt.slice(0, 10) },
];

const catalogueColumns: readonly Column<CatalogueEntry>[] = [
  { title: 'NAME', of: ({ name }) => name },
  { title: 'SIZE', of: ({ bytes }) => formatBytes(bytes) },
  { title: 'MEMORY', of: ({ memoryBytes }) => formatBytes(memoryBytes) },
  { title: 'CAN', of: ({ capabilities }) => capabilities.join(', ') },
  { title: 'LICENCE', of: ({ licence }) => licence },
];
