export const interopFormats = [
  'ennead',
  'n8n',
  'flowise',
  'langflow',
  'serverless-workflow',
] as const;
export type InteropFormat = (typeof interopFormats)[number];

/** How much of a step survived: all of it, in another shape, or only its settings. */
export type StepStatus = 'exact' | 'adapted' | 'unsupported';

export interface StepReport {
  /** What the step is called where it comes from. */
  readonly source: string;
  /** What it is there. */
  readonly type: string;
  /** What it became; absent where it needs no node here. */
  readonly nodeId?: string;
  readonly status: StepStatus;
  readonly note?: string;
}

/** What became of a document. */
export interface ImportReport {
  readonly format: InteropFormat;
  /** 0..1: a step counts whole when it is exact, four fifths when it was adapted. */
  readonly fidelity: number;
  readonly nodes: readonly StepReport[];
  /** Names of the steps that somebody has to replace. */
  readonly unsupported: readonly string[];
  readonly warnings: readonly string[];
}

const weights: Readonly<Record<StepStatus, number>> = { exact: 1, adapted: 0.8, unsupported: 0 };
const warningsMax = 100;

/** The report on steps and what else is to be said. */
export function reportOn(
  format: InteropFormat,
  nodes: readonly StepReport[],
  warnings: readonly string[],
): ImportReport {
  const sum = nodes.reduce((total, { status }) => total + weights[status], 0);
  const fidelity = nodes.length === 0 ? 1 : Math.round((sum / nodes.length) * 100) / 100;
  const unsupported = nodes.filter(({ status }) => status === 'unsupported');
  return {
    format,
    fidelity,
    nodes,
    unsupported: unsupported.map(({ source }) => source),
    warnings: [...new Set(warnings)].slice(0, warningsMax),
  };
}
