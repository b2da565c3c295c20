import type { Sealer } from '../../kit/secrets/sealing.ts';
import type { ComponentTable } from '../components/component.ts';
import { hiddenSecret, secretFieldsOf } from '../components/secret-fields.ts';
import type { Flow, FlowNode } from '../flow/flow.ts';
import { invalidFlow } from './refusals.ts';
import { changeHeaders, headersOf, literalOf, secretHeadersOf } from './secret-headers.ts';

export interface FlowSecretsOptions {
  readonly components: ComponentTable;
  readonly sealer: Pick<Sealer, 'seal' | 'unseal'>;
}

/** How a setting is stored that is marked as secret and is no placeholder. */
interface Sealed {
  readonly $sealed: string;
}

/** What a secret setting becomes; the same again where it stays. */
type Change = (value: unknown, place: SecretPlace) => unknown;

/** A secret setting, or a secret header of a request. */
export interface SecretPlace {
  readonly node: FlowNode;
  readonly name: string;
  readonly isHeader?: boolean;
}

/** Secret settings and headers of flows: sealed in the database, and hidden wherever a flow is shown. */
export class FlowSecrets {
  readonly #options: FlowSecretsOptions;

  constructor(options: FlowSecretsOptions) {
    this.#options = options;
  }

  /**
   * The flow as it is stored. A hidden secret stays what it was in the first of the flows before that
   * has it; throws `invalid` (`invalid_flow`) where none has.
   */
  async seal(
    workflowId: string,
    flow: Flow,
    readBefore: () => Promise<readonly Flow[]>,
  ): Promise<Flow> {
    const before = this.#hidesAny(flow) ? await readBefore() : [];
    return this.#change(flow, (value, place) => {
      if (value === hiddenSecret) return keptSetting(before, place);
      const text = literalOf(value);
      if (text === undefined) return value;
      const { sealer } = this.#options;
      return { $sealed: sealer.seal(Buffer.from(text), contextOf(workflowId)) } satisfies Sealed;
    });
  }

  /** A stored flow as it is shown. */
  hide(flow: Flow): Flow {
    return this.#change(flow, (value) => (isSealed(value) ? hiddenSecret : value));
  }

  /** A flow that came from elsewhere, with something else for each secret that is hidden in it. */
  fill(flow: Flow, fillIn: (place: SecretPlace) => unknown): Flow {
    return this.#change(flow, (value, place) => (value === hiddenSecret ? fillIn(place) : value));
  }

  /** A stored flow as it is run. */
  open(workflowId: string, flow: Flow): Flow {
    const { sealer } = this.#options;
    return this.#change(flow, (value) =>
      isSealed(value) ? sealer.unseal(value.$sealed, contextOf(workflowId)).toString() : value,
    );
  }

  #hidesAny({ nodes }: Flow): boolean {
    return nodes.some(
      (node) =>
        this.#namesOf(node).some((name) => node.data[name] === hiddenSecret) ||
        secretHeadersOf(node).some((name) => headersOf(node)[name] === hiddenSecret),
    );
  }

  #change(flow: Flow, change: Change): Flow {
    const nodes = flow.nodes.map((given) => {
      const node = changeHeaders(given, (value, name) =>
        change(value, { node: given, name, isHeader: true }),
      );
      const names = this.#namesOf(node).filter((name) => Object.hasOwn(node.data, name));
      if (names.length === 0) return node;
      const changed = names.map((name) => [name, change(node.data[name], { node, name })] as const);
      return { ...node, data: { ...node.data, ...Object.fromEntries(changed) } };
    });
    return { ...flow, nodes };
  }

  #namesOf({ type }: FlowNode): readonly string[] {
    const component = this.#options.components.get(type);
    return component ? secretFieldsOf(component.input) : [];
  }
}

function keptSetting(
  before: readonly Flow[],
  { node: given, name, isHeader }: SecretPlace,
): unknown {
  const { id, type } = given;
  for (const { nodes } of before) {
    const node = nodes.find((one) => one.id === id && one.type === type);
    const value = node && (isHeader ? headersOf(node) : node.data)[name];
    if (isSealed(value)) return value;
  }
  const message = `${name}: ${hiddenSecret} stands for a secret that is kept, and there is none`;
  throw invalidFlow([
    { code: 'BAD_SETTING', message, nodeId: id, path: isHeader ? `/headers/${name}` : `/${name}` },
  ]);
}

function isSealed(value: unknown): value is Sealed {
  return typeof value === 'object' && value !== null && '$sealed' in value;
}

function contextOf(workflowId: string): string {
  return `workflow setting ${workflowId}`;
}
