import { refuseAuthorsSettings } from '../../flow/merged-settings.ts';
import type { Scope } from '../../flow/flow.ts';
import type { Plan } from '../../flow/plan.ts';
import type { InputUse, InputUses, StartRequest } from '../execution.ts';
import type { OutputSecrets } from '../journal/output-secrets.ts';
import { predecessorsOf } from './walk-edges.ts';
import type { Step } from './walk-frame.ts';

type Fields = Readonly<Record<string, unknown>>;

/** What a node sees of its execution. */
export interface Seen {
  /** Its settings with everything rendered; throws as `PlannedNode.render` does. */
  readonly settings: () => Fields;
  /** Outputs of the nodes that led to it, by id, in the order of its edges. */
  readonly predecessors: Fields;
}

/** What the inputs of an execution do to the settings of its nodes. */
export class GivenInputs {
  readonly #inputs: Fields;
  readonly #uses: InputUses;
  readonly #secrets: OutputSecrets | undefined;

  constructor(
    { inputs, inputUses = {} }: Pick<StartRequest, 'inputs' | 'inputUses'>,
    secrets: OutputSecrets | undefined,
  ) {
    this.#inputs = inputs;
    this.#uses = inputUses;
    this.#secrets = secrets;
  }

  /**
   * The settings of a node with everything rendered. Where inputs are merged over them, placeholders see
   * the secrets of outputs only in secret settings: what becomes of any other is said by the inputs.
   */
  settingsOf({ nodeId, frame, shape }: Step): Fields {
    const { scope } = frame;
    const given = this.#givenTo(nodeId);
    if (given === undefined) return shape.planned.render(scope, undefined);
    return shape.planned.render(scope, given, {
      isAsIs: useOf(this.#uses, nodeId) === 'as-is',
      shown: this.#secrets ? withoutSecrets(scope, this.#secrets) : scope,
    });
  }

  seenBy(step: Step): Seen {
    const outputs = predecessorsOf(step);
    const secrets = this.#givenTo(step.nodeId) && this.#secrets;
    const predecessors = secrets ? hideEach(outputs, secrets) : outputs;
    return { settings: () => this.settingsOf(step), predecessors };
  }

  #givenTo(nodeId: string): Fields | undefined {
    if (useOf(this.#uses, nodeId) === 'read') return undefined;
    return fieldsOf(this.#inputs, nodeId);
  }
}

/** One use for all of these inputs. */
export function allInputs(inputs: Fields, use: InputUse): InputUses {
  return Object.fromEntries(Object.keys(inputs).map((key) => [key, use]));
}

/** Throws `invalid` (`setting_not_open`) where inputs would replace what only the author of a flow sets. */
export function refuseClosedInputs(
  { inputs, inputUses = {} }: Pick<StartRequest, 'inputs' | 'inputUses'>,
  { nodes }: Plan,
): void {
  for (const nodeId of Object.keys(inputs)) {
    const planned = nodes.get(nodeId);
    const given = fieldsOf(inputs, nodeId);
    if (!planned || !given || useOf(inputUses, nodeId) === 'read') continue;
    refuseAuthorsSettings(planned.component.input, given, `inputs.${nodeId}.`);
  }
}

/** The input of a node's name, where it is an object. */
function fieldsOf(inputs: Fields, nodeId: string): Fields | undefined {
  const own = Object.hasOwn(inputs, nodeId) ? inputs[nodeId] : undefined;
  const isObject = typeof own === 'object' && own !== null && !Array.isArray(own);
  // An object that is no list has names and values.
  return isObject ? (own as Fields) : undefined;
}

function useOf(uses: InputUses, key: string): InputUse | undefined {
  return Object.hasOwn(uses, key) ? uses[key] : undefined;
}

function withoutSecrets({ nodes, loop, ...scope }: Scope, secrets: OutputSecrets): Scope {
  return {
    ...scope,
    nodes: hideEach(nodes, secrets),
    ...(loop && { loop: { ...loop, item: secrets.hide(loop.item) } }),
  };
}

/** Without a prototype, because nodes have names of the users' own. */
function hideEach(outputs: Fields, secrets: OutputSecrets): Fields {
  const hidden: Record<string, unknown> = Object.create(null);
  for (const [id, output] of Object.entries(outputs)) hidden[id] = secrets.hide(output);
  return hidden;
}
