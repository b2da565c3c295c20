import { Fault } from '../../kit/errors.ts';

/**
 * What a refusal of this service itself, by another one of the suite, means for a node: nothing that the
 * flow's author could mend. Throws Fault `unavailable` (`<name>_refused`); all else as it is.
 */
export function refusedBy(name: 'registry' | 'mesh' | 'chat'): (error: unknown) => never {
  return (error) => {
    const fault = Fault.from(error);
    const isOfService =
      fault.code === 'unauthenticated' || fault.reason === 'insufficient_permissions';
    if (!isOfService) throw fault;
    const reason = `${name}_refused`;
    const message = `the ${name} refuses this service: ${fault.message}`;
    throw new Fault('unavailable', message, { reason, cause: fault });
  };
}
