import { show } from '../operator/administration.ts';
import type { AdministrationOptions } from '../operator/work.ts';
import { printFacts, printLine, printRemark, printTable } from '../output.ts';
import type { WorkflowClient } from './workflow-access.ts';
import { readDocumentText } from './workflow-file.ts';

export interface ImportOptions extends AdministrationOptions {
  readonly format?: 'n8n' | 'flowise' | 'langflow' | 'serverless-workflow' | 'ennead';
  readonly name?: string;
  readonly dryRun?: boolean;
}

/** Imports the document of a file, and tells what became of each step. */
export async function importFile(
  client: WorkflowClient,
  path: string,
  options: ImportOptions,
): Promise<void> {
  const { format, name, dryRun = false } = options;
  const document = await readDocumentText(path);
  const answer = await client.importWorkflow({
    body: { document, dryRun, ...(format ? { format } : {}), ...(name ? { name } : {}) },
  });
  show(options, answer, ({ report, ...made }) => {
    const id = 'id' in made ? made.id : undefined;
    const status = 'status' in made ? made.status : 'not stored';
    printFacts({ id, name: made.name, status, format: report.format, fidelity: report.fidelity });
    printLine('');
    printTable(report.nodes, [
      { title: 'STEP', of: ({ source }) => source },
      { title: 'TYPE', of: ({ type }) => type },
      { title: 'NODE', of: ({ nodeId }) => nodeId },
      { title: 'STATUS', of: (step) => step.status },
      { title: 'NOTE', of: ({ note }) => note },
    ]);
    for (const warning of report.warnings) printRemark(warning);
  });
}
