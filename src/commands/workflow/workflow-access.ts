import { Fault } from '../../kit/errors.ts';
import { workflowContract } from '../../workflow/contract.ts';
import type { AdministrationOptions } from '../operator/work.ts';
import { openEvents } from '../event-stream.ts';
import { accessService, type ServiceAccess } from '../operator/service-access.ts';

/** The workflows of a running suite, with the operator's identity. */
export interface WorkflowAccess extends ServiceAccess<typeof workflowContract> {
  /** What happens to an execution, from its start until it has ended. */
  readonly follow: (executionId: string) => Promise<AsyncIterable<unknown>>;
  /** A version as text of another format. */
  readonly exportText: (workflowId: string, format: string) => Promise<ExportedText>;
}

export type WorkflowClient = WorkflowAccess['client'];

export interface ExportedText {
  readonly text: string;
  /** How many steps it cannot say. */
  readonly unsupportedCount: number;
}

/** Finds the workflow service that the settings name. */
export async function openWorkflows(options: AdministrationOptions): Promise<WorkflowAccess> {
  const access = await accessService(workflowContract, options);
  const { url: baseUrl, token } = access;
  return {
    ...access,
    follow: (executionId) =>
      openEvents({
        url: `${baseUrl}/api/v1/executions/${encodeURIComponent(executionId)}/stream`,
        token,
        service: workflowContract.name,
      }),
    exportText: async (workflowId, format) =>
      readExport(`${baseUrl}${exportPath(workflowId, format)}`, await token()),
  };
}

function exportPath(workflowId: string, format: string): string {
  const query = new URLSearchParams({ format });
  return `/api/v1/workflows/${encodeURIComponent(workflowId)}/export?${query.toString()}`;
}

async function readExport(url: string, token: string): Promise<ExportedText> {
  const response = await fetch(url, { headers: { authorization: `Bearer ${token}` } }).catch(
    (cause: unknown) => {
      throw new Fault('unavailable', 'workflow cannot be reached', { cause });
    },
  );
  const text = await response.text();
  if (!response.ok) {
    throw new Fault(Fault.codeOf(response.status), messageOf(text));
  }
  return { text, unsupportedCount: Number(response.headers.get('x-ennead-unsupported') ?? 0) };
}

/** Of the service's envelope; of whatever stands before it the text itself. */
function messageOf(text: string): string {
  try {
    const { error } = JSON.parse(text) as { readonly error: { readonly message: string } };
    return error.message;
  } catch {
    return `workflow refused the export: ${text.slice(0, 500)}`;
  }
}
