import { existsSync } from 'node:fs';
import type { FlowFault } from '../../workflow/flow/flow.ts';
import { Fault } from '../../kit/errors.ts';
import { show } from '../operator/administration.ts';
import type { AdministrationOptions } from '../operator/work.ts';
import { printRemark } from '../output.ts';
import type { WorkflowClient } from './workflow-access.ts';
import { readWorkflowFile, type WorkflowFile } from './workflow-file.ts';
import { describeFault, printTests } from './workflow-output.ts';

/** Makes the workflow of a file, with its tests; every fault of its flow is told. */
export async function makeWorkflow(client: WorkflowClient, path: string, isDraft: boolean) {
  const file = await readWorkflowFile(path);
  const made = await create(client, file, isDraft);
  await addTests(client, made.id, file.tests);
  return made;
}

/** Runs the tests of a workflow, or of a file on a draft that is archived afterwards. */
export async function runTests(
  client: WorkflowClient,
  target: string,
  options: AdministrationOptions,
): Promise<number> {
  const isFile = target === '-' || existsSync(target);
  const id = isFile ? (await makeWorkflow(client, target, true)).id : target;
  try {
    const answer = await client.runFlowTests({ params: { id }, body: {} }, { timeoutMs: 600_000 });
    show(options, answer, printTests);
    if (answer.total === 0) printRemark('there are no tests');
    return answer.passed && answer.total > 0 ? 0 : 1;
  } finally {
    if (isFile) await client.archiveWorkflow({ params: { id } });
  }
}

async function create(client: WorkflowClient, file: WorkflowFile, isDraft: boolean) {
  const { name, description, category, tags, flow } = file;
  const body = {
    name,
    flow,
    ...(description === undefined ? {} : { description }),
    ...(category === undefined ? {} : { category }),
    ...(tags === undefined ? {} : { tags }),
    status: isDraft ? ('draft' as const) : ('active' as const),
  };
  return client.createWorkflow({ body }).catch((error: unknown) => {
    for (const fault of faultsOf(error)) printRemark(describeFault(fault));
    throw error;
  });
}

/** A workflow whose tests are refused is of no use to whoever wrote them: it is archived again. */
async function addTests(
  client: WorkflowClient,
  id: string,
  tests: readonly unknown[] = [],
): Promise<void> {
  if (tests.length === 0) return;
  type Tests = Parameters<WorkflowClient['writeFlowTests']>[0]['body']['tests'];
  try {
    // The service checks them, and says what is wrong.
    await client.writeFlowTests({ params: { id }, body: { tests: tests as Tests } });
  } catch (error) {
    await client.archiveWorkflow({ params: { id } });
    throw error;
  }
}

function faultsOf(error: unknown): readonly FlowFault[] {
  const { reason, detail } = Fault.from(error);
  const { faults } = detail;
  // As the service answers them.
  return reason === 'invalid_flow' && Array.isArray(faults) ? (faults as FlowFault[]) : [];
}
