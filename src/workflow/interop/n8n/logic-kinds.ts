import { fieldsOf, listOf, numberOf, textOf } from '../fields.ts';
import { placeholderText } from '../paths.ts';
import { decidingKinds } from './deciding-kinds.ts';
import type { N8nNode } from './document.ts';
import { passesData, type Incoming, type Mapped, type N8nKind, type N8nReading } from './kind.ts';

/** What starts a workflow is no node here: what it brings are the inputs. */
function startsBy(note: string): N8nKind {
  return {
    map: () => ({ status: 'exact', note }),
    place: () => ({ root: 'inputs', steps: [] }),
    isTrigger: true,
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
  isTrigger: true,
};

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
  outputs: () => 2,
};

/** From version 3 on the first output is that of the end. */
function isLoopOutput({ version }: N8nNode, output: number): boolean {
  return version >= 3 === (output === 1);
}

const merge: N8nKind = {
  map: (reading) => {
    const { mode, combineBy, combinationMode } = reading.node.parameters;
    const name = textOf(mode) || 'append';
    const way = mergeModes[name];
    if (!way) return { status: 'unsupported', note: `the mode ${name} has no counterpart` };
    const taken = name === 'chooseBranch' ? chosen(reading) : reading.incoming;
    const inputs = Object.fromEntries(taken.map(({ id, place }) => [id, placeholderText(place)]));
    const by = textOf(combineBy ?? combinationMode);
    const note =
      by && !by.includes('osition')
        ? `it combined by ${by}; here whole objects`
        : 'it merges once what each way brings, not item by item';
    return { node: { type: 'Merge', data: { inputs, mode: way } }, status: 'adapted', note };
  },
  place: ({ id }) => ({ root: id, steps: ['merged'] }),
};

/** What the one input that is chosen brings; nothing when an empty item is asked for. */
function chosen({ node, incoming }: N8nReading): readonly Incoming[] {
  const { output, useDataOfInput } = node.parameters;
  if (output === 'empty') return [];
  const given = useDataOfInput ?? output;
  const number = numberOf(typeof given === 'string' ? given.replace(/^input/, '') : given) ?? 1;
  return incoming.filter(({ input }) => input === number - 1).slice(0, 1);
}

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
  ...decidingKinds,
  splitInBatches: loop,
  merge,
  wait,
  executeWorkflow: subWorkflow,
  noOp: passed,
};
