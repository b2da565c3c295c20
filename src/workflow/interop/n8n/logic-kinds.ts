import { fieldsOf, listOf, numberOf, textOf, type Fields } from '../fields.ts';
import { toIdentifier } from '../node-ids.ts';
import { placeholderText } from '../paths.ts';
import { compare, conditionOf, differenceOf } from './conditions.ts';
import type { N8nNode } from './document.ts';
import { passesData, type Mapped, type N8nKind, type N8nReading } from './kind.ts';

/** What starts a workflow is no node here: what it brings are the inputs. */
function startsBy(note: string): N8nKind {
  return {
    map: () => ({ status: 'exact', note }),
    place: () => ({ root: 'inputs', steps: [] }),
  };
}

const schedule: N8nKind = {
  map: ({ node }) => {
    const [rule] = listOf(fieldsOf(node.parameters['rule'])['interval']);
    const cron = textOf(fieldsOf(rule)['expression']);
    const note = `make a schedule trigger of the workflow${cron ? ` with cron ${cron}` : ''}`;
    return { status: 'adapted', note };
  },
  place: () => ({ root: 'inputs', steps: [] }),
};

const condition: N8nKind = {
  map: ({ node, sight }) => {
    const { conditions, combineOperation } = node.parameters;
    const text = conditionOf(conditions, sight, textOf(combineOperation) || 'and');
    const note = differenceOf(conditions, isLoose(node));
    return { node: { type: 'Condition', data: { condition: text } }, ...adaptedBy(note) };
  },
  place: passesData,
  handle: (_node, output) => (output === 0 ? 'true' : 'false'),
};

const filter: N8nKind = {
  ...condition,
  map: (reading) => {
    const mapped = condition.map(reading);
    const once = 'it decides once over all that comes in, not item by item';
    return { ...mapped, ...adaptedBy([once, mapped.note].filter(Boolean).join('; ')) };
  },
};

function isLoose({ parameters }: N8nNode): boolean {
  const { looseTypeValidation } = parameters;
  return (
    looseTypeValidation === true || fieldsOf(parameters['options'])['looseTypeValidation'] === true
  );
}

function adaptedBy(note: string | undefined): Pick<Mapped, 'status' | 'note'> {
  return note === undefined ? {} : { status: 'adapted', note };
}

const switchKind: N8nKind = {
  map: (reading) => {
    const cases = casesOf(reading);
    if (cases.length === 0) return { status: 'unsupported', note: 'it has no rules' };
    const notes = rulesOf(reading.node).flatMap(
      ({ conditions }) => differenceOf(conditions, isLoose(reading.node)) ?? [],
    );
    return { node: { type: 'Switch', data: { cases } }, ...adaptedBy(notes[0]) };
  },
  place: passesData,
  handle: (node, output) => handlesOf(node)[output] ?? 'default',
};

function casesOf({ node, sight }: N8nReading) {
  const { parameters } = node;
  const handles = handlesOf(node);
  return rulesOf(node).map((rule, at) => ({
    when: rule['conditions']
      ? conditionOf(rule['conditions'], sight)
      : compare(
          {
            left: parameters['value1'],
            right: rule['value2'],
            operation: textOf(rule['operation']) || 'equal',
            type: textOf(parameters['dataType']) || 'number',
          },
          sight,
        ),
    handle: handles[numberOf(rule['output']) ?? at] ?? `case_${at}`,
  }));
}

function rulesOf({ parameters }: N8nNode): readonly Fields[] {
  const rules = fieldsOf(parameters['rules']);
  return listOf(rules['values'] ?? rules['rules']).map(fieldsOf);
}

function handlesOf(node: N8nNode): readonly string[] {
  return rulesOf(node).map(({ outputKey, renameOutput }, at) => {
    const name = renameOutput === false ? '' : toIdentifier(textOf(outputKey)).slice(0, 40);
    return name === '' || name === 'step' ? `case_${at}` : `case_${at}_${name}`;
  });
}

const loop: N8nKind = {
  map: ({ node, sight }) => {
    const size = numberOf(node.parameters['batchSize']) ?? 1;
    const note = size > 1 ? `it took ${size} items a round; here a round has one` : undefined;
    return {
      node: { type: 'Loop', data: { items: placeholderText(sight.own()) } },
      status: 'adapted',
      note: note ?? 'the items are the list that the step before gives',
    };
  },
  place: ({ node, id, output }) =>
    isLoopOutput(node, output)
      ? { root: 'loop', steps: ['item'] }
      : { root: id, steps: ['results'] },
  handle: (node, output) => (isLoopOutput(node, output) ? 'body' : 'done'),
};

/** From version 3 on the first output is that of the end. */
function isLoopOutput({ version }: N8nNode, output: number): boolean {
  return version >= 3 === (output === 1);
}

const merge: N8nKind = {
  map: ({ node, incoming }) => {
    const { mode, combineBy, combinationMode } = node.parameters;
    const inputs = Object.fromEntries(
      incoming.map(({ id, place }) => [id, placeholderText(place)]),
    );
    const name = textOf(mode) || 'append';
    const way = mergeModes[name];
    if (!way) return { status: 'unsupported', note: `the mode ${name} has no counterpart` };
    const by = textOf(combineBy ?? combinationMode);
    const note =
      by && !by.includes('osition') ? `it combined by ${by}; here whole objects` : undefined;
    return {
      node: { type: 'Merge', data: { inputs, mode: way } },
      status: 'adapted',
      ...(note ? { note } : {}),
    };
  },
  place: ({ id }) => ({ root: id, steps: ['merged'] }),
};

const mergeModes: Readonly<Record<string, string>> = Object.assign(Object.create(null), {
  append: 'concat',
  combine: 'combine',
  mergeByIndex: 'combine',
  mergeByPosition: 'combine',
  passThrough: 'first',
  wait: 'first',
  chooseBranch: 'first',
});

const wait: N8nKind = {
  map: (reading) => {
    const { node } = reading;
    const resume = textOf(node.parameters['resume']) || 'timeInterval';
    if (resume === 'specificTime') {
      return { node: { type: 'Wait', data: { until: reading.read('dateTime') } } };
    }
    if (resume !== 'timeInterval') {
      return { status: 'unsupported', note: `it waits for a ${resume}; use an Approval` };
    }
    const amount = numberOf(node.parameters['amount']) ?? 1;
    const unit = unitsMs[textOf(node.parameters['unit']) || 'hours'] ?? 3_600_000;
    return { node: { type: 'Wait', data: { duration: Math.round(amount * unit) } } };
  },
  place: passesData,
};

const unitsMs: Readonly<Record<string, number>> = {
  seconds: 1_000,
  minutes: 60_000,
  hours: 3_600_000,
  days: 86_400_000,
};

const subWorkflow: N8nKind = {
  map: (reading) => {
    const { parameters } = reading.node;
    const id = parameters['workflowId'];
    const workflowId = textOf(id) || textOf(fieldsOf(id)['value']);
    if (workflowId === '') return { status: 'unsupported', note: 'it names no workflow' };
    const given = fieldsOf(fieldsOf(reading.read('workflowInputs'))['value']);
    const note = `import the workflow ${workflowId.slice(0, 64)} too, and name it here by its new id`;
    return {
      node: { type: 'SubWorkflow', data: { workflowId, inputs: given } },
      status: 'adapted',
      note,
    };
  },
};

const passed: N8nKind = { map: (): Mapped => ({ status: 'exact' }), place: passesData };

/** What decides where a workflow goes on, and what starts it. */
export const logicKinds: Readonly<Record<string, N8nKind>> = {
  manualTrigger: startsBy('an execution is started by the API, the command line or the editor'),
  start: startsBy('an execution is started by the API, the command line or the editor'),
  webhook: startsBy('make a webhook trigger: what it gets are the inputs body, query and headers'),
  chatTrigger: startsBy('what is said is the input chatInput'),
  manualChatTrigger: startsBy('what is said is the input chatInput'),
  formTrigger: startsBy('the fields of the form are the inputs'),
  executeWorkflowTrigger: startsBy('what the other workflow hands over are the inputs'),
  scheduleTrigger: schedule,
  cron: schedule,
  interval: schedule,
  if: condition,
  filter,
  switch: switchKind,
  splitInBatches: loop,
  merge,
  wait,
  executeWorkflow: subWorkflow,
  noOp: passed,
};
