import type { Answer } from '../../api/contracts.ts';
import { readJson, readObject } from '../../ui/entry-text.ts';
import { textOf } from '../../ui/form-values.ts';

/** What a flow is expected to do for some inputs. */
export type FlowTest = Answer<'workflow', 'GET /api/v1/workflows/:id/tests'>['tests'][number];

/** What a run of it came to. */
export type FlowTestResult = Answer<
  'workflow',
  'POST /api/v1/workflows/:id/tests/run'
>['results'][number];

/** A test as it was filled in; throws a sentence for what is no JSON. */
export function readTest(form: FormData): FlowTest {
  const object = (name: 'inputs' | 'pinned', label: string) => {
    const text = textOf(form, name).trim();
    return text === '' ? {} : { [name]: readObject(text, label) };
  };
  return {
    name: textOf(form, 'name').trim(),
    ...object('inputs', 'Inputs'),
    ...object('pinned', 'Pinned'),
    status: textOf(form, 'status') === 'failed' ? 'failed' : 'completed',
    expect: readExpectations(textOf(form, 'expect')),
  };
}

/** The service checks what is in them. */
function readExpectations(text: string): FlowTest['expect'] {
  if (text.trim() === '') return [];
  const value = readJson(text, 'Expected');
  if (Array.isArray(value)) return value as FlowTest['expect'];
  throw new TypeError(
    'Expected must be a JSON array, such as [{"node": "say", "contains": "Ada"}]',
  );
}

/** Tests with one more, or with one in the place of another. */
export function withTest(
  tests: readonly FlowTest[],
  test: FlowTest,
  instead?: FlowTest,
): FlowTest[] {
  if (instead === undefined) return [...tests, test];
  return tests.map((one) => (one.name === instead.name ? test : one));
}

/** An expectation in a line. */
export function describeExpectation({
  node,
  path,
  equals,
  contains,
  cel,
}: FlowTest['expect'][number]): string {
  if (cel !== undefined) return cel;
  const subject = [node ?? 'the result', path].filter((part) => part !== undefined).join('.');
  const said = [
    ...(equals === undefined ? [] : [`equals ${JSON.stringify(equals)}`]),
    ...(contains === undefined ? [] : [`contains ${JSON.stringify(contains)}`]),
  ];
  return `${subject} ${said.join(' and ')}`;
}
