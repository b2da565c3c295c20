import { fieldsOf, listOf, numberOf, textOf, type Fields } from '../fields.ts';
import { toIdentifier } from '../node-ids.ts';
import { compare } from './comparisons.ts';
import { conditionOf, differenceOf } from './conditions.ts';
import type { N8nNode } from './document.ts';
import { passesData, type Mapped, type N8nKind, type N8nReading } from './kind.ts';

const condition: N8nKind = {
  map: ({ node, sight }) => {
    const { conditions, combineOperation } = node.parameters;
    const isLoose = isLooseNode(node);
    const combinator = textOf(combineOperation) || 'and';
    const text = conditionOf(conditions, sight, { combinator, isLoose });
    const note = differenceOf(conditions, isLoose);
    return { node: { type: 'Condition', data: { condition: text } }, ...adaptedBy(note) };
  },
  place: passesData,
  handle: (_node, output) => (output === 0 ? 'true' : 'false'),
  outputs: () => 2,
};

const filter: N8nKind = {
  ...condition,
  map: (reading) => {
    const mapped = condition.map(reading);
    const once = 'it decides once over all that comes in, not item by item';
    return { ...mapped, ...adaptedBy([once, mapped.note].filter(Boolean).join('; ')) };
  },
  outputs: () => 1,
};

function isLooseNode({ parameters }: N8nNode): boolean {
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
    const { node } = reading;
    const rules = rulesOf(node);
    if (rules.length === 0) return { status: 'unsupported', note: 'it has no rules' };
    const isOld = rules.some((rule) => rule['conditions'] === undefined);
    const different = rules.flatMap((rule) =>
      rule['conditions'] ? (differenceOf(rule['conditions'], isLooseNode(node)) ?? []) : [],
    );
    const note = isOld ? 'it converted values of other types; here they differ' : different[0];
    return { node: takesAll(node) ? passing : switchOver(reading), ...adaptedBy(note) };
  },
  place: passesData,
  handle: (node, output) => (takesAll(node) ? undefined : handleOf(node, output)),
  condition: (reading, output) =>
    takesAll(reading.node) ? conditionOfOutput(reading, output) : undefined,
  outputs: (node) => {
    if (hasNumbers(node)) return 4;
    return rulesOf(node).length + (fallbackOf(node) === 'extra' ? 1 : 0);
  },
  hasOutput: (node, output) => {
    const rules = rulesOf(node);
    const fallback = fallbackOf(node);
    const isOther = fallback === output || (fallback === 'extra' && output === rules.length);
    const isNumbered = hasNumbers(node);
    return isOther || rules.some((rule, at) => output === (isNumbered ? numberOfRule(rule) : at));
  },
};

function numberOfRule({ output }: Fields): number {
  return numberOf(output) ?? 0;
}

/** Its ways are decided by themselves, as several may be taken. */
const passing = { type: 'Merge', data: { inputs: {} } };

function switchOver(reading: N8nReading) {
  const { node } = reading;
  const cases = rulesOf(node).map((rule, at) => ({
    when: whenOf(rule, reading),
    handle: handleOf(node, hasNumbers(node) ? numberOfRule(rule) : at),
  }));
  const fallback = fallbackOf(node);
  const other = typeof fallback === 'number' ? { default: handleOf(node, fallback) } : {};
  return { type: 'Switch', data: { cases, ...other } };
}

function whenOf(rule: Fields, { node, sight }: N8nReading): string {
  const { conditions, value2: right, operation } = rule;
  if (conditions) return conditionOf(conditions, sight, { isLoose: isLooseNode(node) });
  const { value1: left, dataType } = node.parameters;
  const type = textOf(dataType) || 'number';
  return compare({ left, right, operation: textOf(operation) || 'equal', type }, sight);
}

function rulesOf({ parameters }: N8nNode): readonly Fields[] {
  const rules = fieldsOf(parameters['rules']);
  return listOf(rules['values'] ?? rules['rules']).map(fieldsOf);
}

/** Whether every rule that holds is followed, not only the first. */
function takesAll({ parameters }: N8nNode): boolean {
  return fieldsOf(parameters['options'])['allMatchingOutputs'] === true;
}

function conditionOfOutput(reading: N8nReading, output: number): string {
  const whens = rulesOf(reading.node).map((rule) => `(${whenOf(rule, reading)})`);
  const own = whens[output];
  const none = `!(${whens.join(' || ')})`;
  if (own === undefined) return none;
  return fallbackOf(reading.node) === output ? `${own} || ${none}` : own;
}

/** Before version 2 the rules name their outputs by number. */
function hasNumbers({ version }: N8nNode): boolean {
  return version < 2;
}

/** Where it goes on when no rule holds: the number of an output, or one of its own. */
function fallbackOf({ parameters }: N8nNode): number | 'extra' | undefined {
  const given = fieldsOf(parameters['options'])['fallbackOutput'] ?? parameters['fallbackOutput'];
  if (given === 'extra') return 'extra';
  const number = numberOf(given);
  return number === undefined || number < 0 ? undefined : number;
}

function handleOf(node: N8nNode, output: number): string {
  if (hasNumbers(node)) return `output_${output}`;
  const rule = rulesOf(node)[output];
  if (!rule) return 'default';
  const { outputKey, renameOutput } = rule;
  const name = renameOutput === false ? '' : toIdentifier(textOf(outputKey)).slice(0, 40);
  return name === '' || name === 'step' ? `case_${output}` : `case_${output}_${name}`;
}

/** What decides where a workflow goes on. */
export const decidingKinds: Readonly<Record<string, N8nKind>> = {
  if: condition,
  filter,
  switch: switchKind,
};
