import { Command } from 'commander';
import { addCommand, show } from '../operator/administration.ts';
import type { AdministrationOptions } from '../operator/work.ts';
import {
  countOf,
  printFacts,
  printJsonLine,
  printLine,
  printRemark,
  printTable,
  type Column,
} from '../output.ts';
import { parseCount, readItems, remarkOnRest } from '../pages.ts';
import type { WorkflowAccess, WorkflowClient } from './workflow-access.ts';
import type { ImportOptions } from './workflow-import.ts';

interface ListOptions extends AdministrationOptions {
  readonly limit: number;
  readonly category?: string;
  readonly status?: 'draft' | 'active' | 'archived';
}

interface RunOptions extends AdministrationOptions {
  readonly input: readonly string[];
  readonly watch?: boolean;
  readonly async?: boolean;
}

interface CreateOptions extends AdministrationOptions {
  readonly draft?: boolean;
}

/** `ennead workflow …` */
export function workflowCommand(): Command {
  const group = new Command('workflow').description('make, run, watch and exchange workflows');
  addDefinitionCommands(group);
  addExecutionCommands(group);
  addExchangeCommands(group);
  return group;
}

function addDefinitionCommands(group: Command): void {
  addCommand(group, 'list', '--status active')
    .description('list workflows, the newest first')
    .option('--category <category>', 'only those of this category')
    .option('--status <status>', 'only draft, active or archived')
    .option('--limit <count>', 'at most so many', parseCount, 20)
    .action((options: ListOptions) => work(options, (access) => list(access, options)));
  addCommand(group, 'templates', '')
    .description('list the workflows that come with the suite, which run as they are')
    .action((options: AdministrationOptions) =>
      work(options, (access) => listTemplates(access, options)),
    );
  addCommand(group, 'show <id>', 'tpl_summarize_text')
    .description('show a workflow and its nodes')
    .action((id: string, options: AdministrationOptions) =>
      work(options, async ({ client }) => {
        const found = await client.readWorkflow({ params: { id }, query: {} });
        show(options, found, printWorkflow);
      }),
    );
  addCommand(group, 'validate <file>', 'flow.yaml')
    .description('say everything that is wrong with a flow; exit code 1 when there is something')
    .action((path: string, options: AdministrationOptions) =>
      work(options, async ({ client }) => {
        const { readWorkflowFile } = await import('./workflow-file.ts');
        const { flow } = await readWorkflowFile(path);
        const { describeFault } = await import('./workflow-output.ts');
        const answer = await client.validateFlow({ body: { flow } });
        show(options, answer, ({ faults }) => {
          if (answer.valid) printLine('the flow holds');
          for (const fault of faults) printLine(describeFault(fault));
        });
        return answer.valid ? 0 : 1;
      }),
    );
  addCommand(group, 'create <file>', 'flow.yaml --draft')
    .description('make a workflow of a JSON or YAML file, with its tests, or of standard input (-)')
    .option('--draft', 'do not publish it')
    .action((path: string, options: CreateOptions) =>
      work(options, async ({ client }) => {
        const { makeWorkflow } = await import('./workflow-making.ts');
        const made = await makeWorkflow(client, path, options.draft === true);
        show(options, made, ({ id, status, version }) => printFacts({ id, status, version }));
      }),
    );
}

function addExecutionCommands(group: Command): void {
  addCommand(group, 'run <id>', 'tpl_summarize_text --input text="A long report" --watch')
    .description('run a workflow and wait for its end; exit code 1 unless it completes')
    .option('--input <key=value...>', 'an input; a value that is JSON is taken as such', [])
    .option('--watch', 'print each node as it begins and ends')
    .option('--async', 'do not wait')
    .action((id: string, options: RunOptions) =>
      work(options, (access) => run(access, id, options)),
    );
  addCommand(group, 'status <execution>', 'exe_01')
    .description('show how an execution and its nodes stand')
    .action((executionId: string, options: AdministrationOptions) =>
      work(options, async ({ client }) => showExecution(client, executionId, options)),
    );
  addCommand(group, 'cancel <execution>', 'exe_01')
    .description('call an execution off')
    .action((executionId: string, options: AdministrationOptions) =>
      work(options, async ({ client }) => {
        const execution = await client.cancelExecution({ params: { executionId } });
        show(options, execution, ({ status }) => printFacts({ execution: executionId, status }));
      }),
    );
  addCommand(group, 'resume <execution>', 'exe_01')
    .description('go on with an execution that failed or was cancelled')
    .action((executionId: string, options: AdministrationOptions) =>
      work(options, async ({ client }) => {
        const answer = await client.resumeExecution({ params: { executionId }, body: {} });
        show(options, answer, ({ status }) => printFacts({ execution: executionId, status }));
      }),
    );
  addCommand(group, 'test <target>', 'flow.yaml')
    .description('run the tests of a workflow, or of a file; exit code 1 unless all pass')
    .action((target: string, options: AdministrationOptions) =>
      work(options, async ({ client }) => {
        const { runTests } = await import('./workflow-making.ts');
        return runTests(client, target, options);
      }),
    );
}

function addExchangeCommands(group: Command): void {
  addCommand(group, 'import <file>', 'n8n-export.json --dry-run')
    .description('make a workflow of a file of n8n, Flowise, Langflow, Serverless Workflow or ours')
    .option('--format <format>', 'n8n, flowise, langflow, serverless-workflow or ennead')
    .option('--name <name>', 'what it is called')
    .option('--dry-run', 'only say what would become of it')
    .action((path: string, options: ImportOptions) =>
      work(options, async ({ client }) => {
        const { importFile } = await import('./workflow-import.ts');
        await importFile(client, path, options);
      }),
    );
  addCommand(group, 'export <id>', 'tpl_summarize_text --format serverless-workflow')
    .description('print a workflow as a document')
    .option('--format <format>', 'ennead (JSON) or serverless-workflow (YAML)', 'ennead')
    .action((id: string, options: AdministrationOptions & { readonly format: string }) =>
      work(options, async ({ exportText }) => {
        const { text, unsupportedCount } = await exportText(id, options.format);
        process.stdout.write(text.endsWith('\n') ? text : `${text}\n`);
        if (unsupportedCount > 0)
          printRemark(`${countOf(unsupportedCount, 'node')} cannot be said in it`);
      }),
    );
}

// What talks to the suite is loaded by the command that needs it, so that help comes at once.

async function work(
  options: AdministrationOptions,
  task: (access: WorkflowAccess) => Promise<number | void>,
): Promise<void> {
  const { openWorkflows } = await import('./workflow-access.ts');
  await using access = await openWorkflows(options);
  try {
    process.exitCode = (await task(access)) ?? 0;
  } catch (error) {
    throw access.explain(error);
  }
}

async function list({ client }: WorkflowAccess, options: ListOptions): Promise<void> {
  const { category, status } = options;
  const filters = { ...(category ? { category } : {}), ...(status ? { status } : {}) };
  const listed = await readItems(options.limit, async (page) => {
    const { workflows, total } = await client.listWorkflows({ query: { ...page, ...filters } });
    return { items: workflows, total };
  });
  show(options, { workflows: listed.items, ...listed.rest }, () => {
    printTable(listed.items, columns);
    remarkOnRest(listed);
  });
}

/** What comes with the suite, ready to run. */
async function listTemplates(
  { client }: WorkflowAccess,
  options: AdministrationOptions,
): Promise<void> {
  const answer = await client.listTemplates({});
  show(options, answer, ({ templates }) => {
    printTable(templates, [
      { title: 'ID', of: ({ id }) => id },
      { title: 'CATEGORY', of: ({ category }) => category },
      { title: 'INPUTS', of: ({ inputs }) => inputs.map(({ name }) => name).join(', ') },
      { title: 'NAME', of: ({ name }) => name },
    ]);
  });
}

type Found = Awaited<ReturnType<WorkflowClient['readWorkflow']>>;

function printWorkflow(found: Found): void {
  const { id, name, description, status, version, category, tags, ownerId, flow } = found;
  const facts = { id, name, description, status, version, category, owner: ownerId };
  printFacts({ ...facts, tags: tags.join(', ') });
  printLine('');
  printTable(flow.nodes, [
    { title: 'NODE', of: (node) => node.id },
    { title: 'TYPE', of: ({ type }) => type },
    {
      title: 'LEADS TO',
      of: (node) =>
        (flow.edges ?? [])
          .filter(({ source }) => source === node.id)
          .map(({ target, sourceHandle }) =>
            sourceHandle ? `${target} (${sourceHandle})` : target,
          )
          .join(', '),
    },
  ]);
}

async function run(access: WorkflowAccess, id: string, options: RunOptions): Promise<number> {
  const { readInputs } = await import('./workflow-file.ts');
  const inputs = readInputs(options.input);
  const started = await access.client.executeWorkflow({
    params: { id },
    body: { inputs, options: { async: true } },
  });
  const executionId = started['executionId'];
  if (options.async) {
    show(options, started, () => printFacts({ execution: executionId, status: 'running' }));
    return 0;
  }
  // Who interrupts this needs its name: it goes on.
  if (!options.json) printRemark(`execution ${executionId}`);
  await watch(access, executionId, options);
  return showExecution(access.client, executionId, options);
}

/** Waits for the end; each event is told where that is wanted. */
async function watch(
  { follow }: WorkflowAccess,
  executionId: string,
  { watch: isTold, json }: RunOptions,
): Promise<void> {
  const { printEvent } = await import('./workflow-output.ts');
  for await (const event of await follow(executionId)) {
    if (!isTold) continue;
    if (json) printJsonLine(event);
    else printEvent(event as Parameters<typeof printEvent>[0]);
  }
}

async function showExecution(
  client: WorkflowClient,
  executionId: string,
  options: AdministrationOptions & Pick<RunOptions, 'watch'>,
): Promise<number> {
  const { printExecution } = await import('./workflow-output.ts');
  const execution = await client.readExecution({ params: { executionId }, query: { wait: 0 } });
  // Behind events it is the last of the lines, each of which is JSON.
  if (options.json && options.watch) printJsonLine(execution);
  else show(options, execution, printExecution);
  return execution.status === 'failed' || execution.status === 'cancelled' ? 1 : 0;
}

type Listed = Awaited<ReturnType<WorkflowClient['listWorkflows']>>['workflows'][number];

const columns: readonly Column<Listed>[] = [
  { title: 'ID', of: ({ id }) => id },
  { title: 'STATUS', of: ({ status }) => status },
  { title: 'VERSION', of: ({ version }) => version },
  { title: 'NODES', of: ({ components }) => components },
  { title: 'CATEGORY', of: ({ category }) => category },
  { title: 'NAME', of: ({ name }) => name },
];
