import type { FlowSecrets } from '../definitions/flow-secrets.ts';
import type { Flow } from '../flow/flow.ts';
import { NodeIds } from './node-ids.ts';
import { reportOn, type ImportReport } from './report.ts';

export interface FilledFlow {
  readonly flow: Flow;
  readonly report: ImportReport;
  /** Some secret has to be filled in. */
  readonly isOpen: boolean;
}

/**
 * A flow whose document says `***` for secrets, as our own exports do: each is read from an input of its
 * own until somebody fills it in, and the report names it.
 */
export function fillSecrets(
  { flow: given, report }: Pick<FilledFlow, 'flow' | 'report'>,
  secrets: Pick<FlowSecrets, 'fill'>,
): FilledFlow {
  const ids = new NodeIds();
  for (const { id } of given.nodes) ids.unused(id);
  const notes = new Map<string, string[]>();
  const flow = secrets.fill(given, ({ node, name, isHeader }) => {
    const input = ids.unused(`${node.id}_${name}`);
    const what = `${isHeader ? 'its header' : 'its setting'} ${JSON.stringify(name)} is a secret`;
    const note = `${what} that the document does not hold: fill it in, or give the input ${input}`;
    notes.set(node.id, [...(notes.get(node.id) ?? []), note]);
    return `{{ inputs.${input} }}`;
  });
  if (notes.size === 0) return { flow, report, isOpen: false };
  const nodes = report.nodes.map((step) => {
    const said = notes.get(step.nodeId ?? '');
    if (!said) return step;
    const status = step.status === 'exact' ? ('adapted' as const) : step.status;
    const note = [...(step.note === undefined ? [] : [step.note]), ...said].join('; ');
    return { ...step, status, note };
  });
  const warnings = [...notes].flatMap(([id, said]) => said.map((note) => `${id}: ${note}`));
  const told = reportOn(report.format, nodes, [...report.warnings, ...warnings]);
  return { flow, report: told, isOpen: true };
}
