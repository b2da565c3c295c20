import { Compile } from 'typebox/compile';
import { Fault } from '../../../kit/errors.ts';
import { findFlaws } from '../../../kit/schema-flaws.ts';
import type { FlowTest } from '../../definitions/flow-test.ts';
import type { WorkflowLabels } from '../../definitions/workflow.ts';
import type { Flow } from '../../flow/flow.ts';
import { flowTestList } from '../../schemas/flow-tests.ts';
import { ownFormat } from '../document.ts';
import { fieldsOf, listOf, textOf, type Fields } from '../fields.ts';

/** A workflow as a document that any installation of ours takes. */
export interface OwnDocument {
  readonly format: string;
  readonly name: string;
  readonly description: string;
  readonly category: string;
  readonly tags: readonly string[];
  readonly flow: Flow;
  /** Absent when there are none. */
  readonly tests?: readonly FlowTest[];
}

const testsShape = Compile(flowTestList);

/** The document of a workflow; ids, owner and secrets stay behind. */
export function exportOwn(
  { name, description, category, tags }: WorkflowLabels,
  flow: Flow,
  tests: readonly FlowTest[],
): OwnDocument {
  const own = { format: ownFormat, name, description, category, tags, flow };
  return tests.length > 0 ? { ...own, tests } : own;
}

/** What such a document says; the flow is unchecked. Fault `invalid` (`bad_document`) for no tests. */
export function readOwn(document: Fields) {
  const tags = listOf(document['tags']).filter((tag): tag is string => typeof tag === 'string');
  const labels = {
    name: textOf(document['name']),
    description: textOf(document['description']).slice(0, 4_000),
    category: textOf(document['category']).slice(0, 64) || 'imported',
    tags: tags.slice(0, 20).map((tag) => tag.slice(0, 64)),
  };
  return { labels, flow: fieldsOf(document['flow']), tests: readTests(document['tests'] ?? []) };
}

function readTests(given: unknown): FlowTest[] {
  if (testsShape.Check(given)) {
    return given.map(({ inputs = {}, pinned = {}, ...test }) => ({
      ...test,
      inputs: inputs as FlowTest['inputs'],
      pinned: pinned as FlowTest['pinned'],
    }));
  }
  const [flaw] = findFlaws(testsShape.Errors(given), flowTestList);
  const where = `tests${(flaw?.place ?? '').replaceAll('/', '.')}`;
  throw new Fault('invalid', `${where} ${flaw?.message ?? 'are none'}`, { reason: 'bad_document' });
}
