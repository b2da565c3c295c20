import { Fault } from '../../../kit/errors.ts';

/** The output of a node as JSON; throws `invalid` (`bad_output`) for what is none. */
export function writeOutput(
  output: unknown,
  replacer?: (this: object, name: string, value: unknown) => unknown,
): string {
  try {
    return JSON.stringify(output, replacer) ?? 'null';
  } catch (cause) {
    const message = 'the output of a node is JSON';
    throw new Fault('invalid', message, { reason: 'bad_output', cause });
  }
}

export function readOutput(output: string | undefined): unknown {
  return output === undefined ? null : JSON.parse(output);
}
