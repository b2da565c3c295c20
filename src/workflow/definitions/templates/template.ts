import type { Flow } from '../../flow/flow.ts';

/** One of the `inputs` that a built-in workflow reads. */
export interface TemplateInput {
  readonly name: string;
  readonly description: string;
  readonly example: unknown;
}

/** A workflow that is built in: it can be run as it is, or be the beginning of one's own. */
export interface Template {
  /** `tpl_…`: also the id under which it is run. */
  readonly id: string;
  readonly name: string;
  readonly description: string;
  readonly category: string;
  readonly tags: readonly string[];
  readonly inputs: readonly TemplateInput[];
  readonly flow: Flow;
}
