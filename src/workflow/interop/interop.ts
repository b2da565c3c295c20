import type { Definitions } from '../definitions/definitions.ts';
import { readShown, readShownVersion } from '../definitions/drafts.ts';
import { invalidFlow } from '../definitions/refusals.ts';
import type { FlowCompiler } from '../definitions/flow-compiler.ts';
import type { FlowSecrets } from '../definitions/flow-secrets.ts';
import type { FlowTest } from '../definitions/flow-test.ts';
import { requireSound, type FlowTests } from '../definitions/flow-tests.ts';
import type { Actor, Workflow } from '../definitions/workflow.ts';
import type { Flow } from '../flow/flow.ts';
import { readDocument, recogniseFormat } from './document.ts';
import { bareDraft } from './draft-credentials.ts';
import type { Draft } from './draft.ts';
import { exportOwn, readOwn, type OwnDocument } from './ennead/document.ts';
import type { Fields } from './fields.ts';
import { importFlowise } from './flowise/import.ts';
import { importLangflow } from './langflow/import.ts';
import { fillSecrets } from './left-secrets.ts';
import { mendDraft } from './mending.ts';
import { importN8n } from './n8n/import.ts';
import { reportOn, type ImportReport, type InteropFormat } from './report.ts';
import { exportServerless, type ServerlessExport } from './serverless/export.ts';
import { importServerless } from './serverless/import.ts';
import { readOwnExport } from './serverless/own-export.ts';

export interface InteropOptions {
  readonly definitions: Pick<Definitions, 'create' | 'read' | 'readVersion'>;
  readonly compiler: Pick<FlowCompiler, 'read'>;
  readonly flowSecrets: Pick<FlowSecrets, 'fill'>;
  readonly tests: Pick<FlowTests, 'read' | 'write'>;
}

export interface ImportRequest {
  /** Recognised when absent. */
  readonly format?: InteropFormat | undefined;
  /** An object, or a text of JSON or YAML. */
  readonly document: unknown;
  readonly name?: string | undefined;
  /** Only says what would become of it. */
  readonly isDryRun: boolean;
}

/** Which version leaves, and for whom. */
export interface ExportRequest {
  /** The published one when absent. */
  readonly version?: number | undefined;
  readonly actor: Actor;
}

export interface Imported {
  readonly report: ImportReport;
  readonly name: string;
  readonly flow: Flow;
  /** Absent after a dry run. */
  readonly workflow?: Workflow;
}

interface Reading {
  readonly name: string;
  readonly description: string;
  readonly category: string;
  readonly tags: readonly string[];
  readonly flow: Flow;
  /** Of our own documents. */
  readonly tests?: readonly FlowTest[];
  readonly report: ImportReport;
}

/** Workflows that come from elsewhere and go elsewhere. */
export class Interop {
  readonly #options: InteropOptions;

  constructor(options: InteropOptions) {
    this.#options = options;
  }

  /**
   * Makes a workflow of a foreign document: active when all of it is supported, else a draft whose
   * Placeholders somebody has to replace, or that has secrets to be filled in. Fault `invalid` (`bad_document`, `unknown_format`,
   * `invalid_flow`).
   */
  async import(request: ImportRequest, ownerId: string): Promise<Imported> {
    const document = await readDocument(request.document);
    const format = request.format ?? recogniseFormat(document);
    const reading = format === 'ennead' ? this.#own(document) : this.#foreign(format, document);
    const { description, category, tags, tests = [] } = reading;
    const { report, flow, isOpen } = fillSecrets(reading, this.#options.flowSecrets);
    const name = oneLine(request.name ?? reading.name) || `Imported from ${format}`;
    if (request.isDryRun) return { report, name, flow };
    const isPublished = !isOpen && report.unsupported.length === 0;
    const labels = { name, description, category, tags };
    const { definitions } = this.#options;
    const workflow = await definitions.create({ ...labels, flow, isPublished }, ownerId);
    const actor = { id: ownerId, isAdmin: false };
    if (tests.length > 0) await this.#options.tests.write(workflow.id, tests, actor);
    return { report, name, flow, workflow };
  }

  /** A version as a document of our own, which can be imported anywhere. */
  async exportOwn(workflowId: string, wanted: ExportRequest): Promise<OwnDocument> {
    const { definitions, tests } = this.#options;
    const workflow = await readShown(definitions, workflowId, wanted.actor);
    const { flow } = await readShownVersion(definitions, workflow, wanted);
    return exportOwn(workflow, flow, await tests.read(workflowId, wanted.actor));
  }

  /** A version as Serverless Workflow 1.0, and what of it that cannot say. */
  async exportServerless(workflowId: string, wanted: ExportRequest): Promise<ServerlessExport> {
    const { definitions, tests } = this.#options;
    const workflow = await readShown(definitions, workflowId, wanted.actor);
    const found = await readShownVersion(definitions, workflow, wanted);
    const { name, description, category, tags } = workflow;
    const kept = { category, tags, tests: await tests.read(workflowId, wanted.actor) };
    return exportServerless({ name, description, version: found.version, kept }, found.flow);
  }

  #own(document: Fields): Reading {
    const { labels, flow: given, tests } = readOwn(document);
    const { flow, faults } = this.#options.compiler.read(given);
    if (!flow) throw invalidFlow(faults);
    requireSound(tests, flow);
    return { ...labels, flow, tests, report: reportOn('ennead', ownSteps(flow), []) };
  }

  #foreign(format: Exclude<InteropFormat, 'ennead'>, document: Fields): Reading {
    const draft = bareDraft(importers[format](document));
    const own = format === 'serverless-workflow' ? this.#ownExport(document, draft) : undefined;
    if (own) return own;
    const check = (flow: Flow) => this.#options.compiler.read(flow).faults;
    const { flow, steps, warnings } = mendDraft(draft, check);
    const { name, description = '' } = draft;
    const labels = { name, description: description.slice(0, 4_000), category: 'imported' };
    return { ...labels, tags: [format], flow, report: reportOn(format, steps, warnings) };
  }

  #ownExport(document: Fields, { name, description }: Draft): Reading | undefined {
    const format = 'serverless-workflow';
    const own = readOwnExport(document, (given) => this.#options.compiler.read(given).flow);
    if (!own) return undefined;
    const { flow, kept } = own;
    const { labels, tests } = readOwn({ tags: [format], ...kept, name, description });
    requireSound(tests, flow);
    return { ...labels, flow, tests, report: reportOn(format, ownSteps(flow), []) };
  }
}

/** What became of the nodes of a flow that was ours before: they stayed what they were. */
function ownSteps({ nodes }: Flow) {
  return nodes.map(({ id, type, label }) => {
    const isOpen = type === 'Placeholder';
    const status = isOpen ? ('unsupported' as const) : ('exact' as const);
    return { source: label ?? id, type, nodeId: id, status };
  });
}

const importers: Readonly<Record<Exclude<InteropFormat, 'ennead'>, (document: Fields) => Draft>> = {
  n8n: importN8n,
  flowise: importFlowise,
  langflow: importLangflow,
  'serverless-workflow': importServerless,
};

function oneLine(text: string): string {
  return text
    .replaceAll(/[\p{Cc}\p{Cs}\p{Zl}\p{Zp}]+/gu, ' ')
    .trim()
    .slice(0, 200);
}
